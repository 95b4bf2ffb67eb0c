#include "trainyard/render/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "trainyard/base/contract.hpp"
#include "trainyard/base/text.hpp"

namespace trainyard::render {

namespace {

using doc::Node;

bool is_alnum(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}
bool is_letter(char c) { return is_alnum(c) && (c < '0' || c > '9'); }

/// Words that YAML 1.1 reads as something else than a string, in any case.
bool is_yaml_word(std::string_view s) {
    constexpr std::array<std::string_view, 11> kWords = {
        "y", "n", "yes", "no", "on", "off", "true", "false", "null", "nan", "inf"};
    return std::find(kWords.begin(), kWords.end(), to_lower(s)) != kWords.end();
}

/// Letters first, then only characters that have no meaning inside a plain scalar. ':' is left out:
/// it would need a look at what follows.
bool is_plain_yaml(std::string_view s) {
    if (s.empty() || !is_letter(s.front()) || is_yaml_word(s)) return false;
    return std::all_of(s.begin(), s.end(), [](char c) {
        return is_alnum(c) || c == '-' || c == '_' || c == '.' || c == '/' || c == '+';
    });
}

/// The next code point of valid UTF-8; a malformed byte counts as itself.
struct Point {
    std::uint32_t value = 0;
    std::size_t bytes = 1;
    bool valid = true;
};
Point point_at(std::string_view s, std::size_t i) {
    const auto byte = [&s](std::size_t k) { return static_cast<unsigned char>(s[k]); };
    const unsigned char first = byte(i);
    if (first < 0x80) return {first, 1};
    const std::size_t n = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
    if (i + n > s.size() || !is_valid_utf8(s.substr(i, n))) return {0xFFFD, 1, false};
    std::uint32_t v = first & (0xFFU >> (n + 1));
    for (std::size_t k = 1; k < n; ++k) v = (v << 6U) | (byte(i + k) & 0x3FU);
    return {v, n};
}

/// Double-quoted with escapes that YAML and Python both read: \", \\, \n, \t, \xNN, \uNNNN,
/// \UNNNNNNNN. ASCII only.
std::string double_quoted(std::string_view s) {
    std::string out = "\"";
    for (std::size_t i = 0; i < s.size();) {
        const Point p = point_at(s, i);
        i += p.bytes;
        if (p.value == '"' || p.value == '\\') {
            out += '\\';
            out += static_cast<char>(p.value);
        } else if (p.value == '\n') {
            out += "\\n";
        } else if (p.value == '\t') {
            out += "\\t";
        } else if (p.value >= 0x20 && p.value < 0x7F) {
            out += static_cast<char>(p.value);
        } else if (p.value < 0x100) {
            out += fmt::format("\\x{:02x}", p.value);
        } else if (p.value < 0x10000) {
            out += fmt::format("\\u{:04x}", p.value);
        } else {
            out += fmt::format("\\U{:08x}", p.value);
        }
    }
    return out + "\"";
}

/// Control characters, C1, line separators and bidirectional overrides: what could hide or break a
/// line.
std::string one_line(std::string_view s, char instead) {
    std::string out;
    for (std::size_t i = 0; i < s.size();) {
        const Point p = point_at(s, i);
        const bool control = p.value < 0x20 || (p.value >= 0x7F && p.value < 0xA0);
        const bool hidden = (p.value >= 0x200B && p.value <= 0x200F) ||
                            (p.value >= 0x2028 && p.value <= 0x202E) ||
                            (p.value >= 0x2066 && p.value <= 0x2069) || p.value == 0xFEFF;
        if (control || hidden || !p.valid) {
            out += instead;
        } else {
            out.append(s.substr(i, p.bytes));
        }
        i += p.bytes;
    }
    return out;
}

class YamlWriter {
  public:
    std::string document(const Node& root) {
        if (is_block(root)) {
            block(root, 0, true);
        } else {
            out_ += scalar(root) + "\n";
        }
        return std::move(out_);
    }

  private:
    static bool is_block(const Node& n) {
        return (n.is(Node::Kind::map) && !n.members().empty()) ||
               (n.is(Node::Kind::list) && !n.items().empty());
    }

    static std::string scalar(const Node& n) {
        switch (n.kind()) {
            case Node::Kind::string:
                return yaml_string(n.text());
            case Node::Kind::list:
                return "[]";
            case Node::Kind::map:
                return "{}";
            default: {
                std::string s = doc::write_json(n);
                s.pop_back();  // the newline
                // "1e-04" is a string to YAML 1.1.
                const std::size_t e = n.is(Node::Kind::number) ? s.find('e') : std::string::npos;
                if (e != std::string::npos && s.find('.') == std::string::npos) s.insert(e, ".0");
                return s;
            }
        }
    }

    void pad(int depth) { out_.append(static_cast<std::size_t>(depth) * 2, ' '); }

    /// `at_start`: the cursor stands at the beginning of a line; otherwise behind "- ".
    void block(const Node& n, int depth, bool at_start) {
        if (n.is(Node::Kind::map)) {
            map(n, depth, at_start);
        } else {
            list(n, depth, at_start);
        }
    }

    void map(const Node& n, int depth, bool at_start) {
        for (const auto& [key, value] : n.members()) {
            if (at_start) pad(depth);
            at_start = true;
            if (key.starts_with('#')) {
                // Behind "- " a comment is legal too: the map goes on in the next line.
                out_ += "# " + one_line(value.text(), '?') + "\n";
                continue;
            }
            out_ += yaml_string(key) + ":";
            child(value, depth + 1);
        }
    }

    void child(const Node& value, int depth) {
        if (!is_block(value)) {
            out_ += " " + scalar(value) + "\n";
            return;
        }
        out_ += "\n";
        block(value, depth, true);
    }

    void list(const Node& n, int depth, bool at_start) {
        for (const Node& item : n.items()) {
            if (at_start) pad(depth);
            at_start = true;
            out_ += "-";
            if (is_block(item)) {
                out_ += " ";
                block(item, depth + 1, false);
            } else {
                out_ += " " + scalar(item) + "\n";
            }
        }
    }

    std::string out_;
};

}  // namespace

std::string yaml_string(std::string_view s) {
    return is_plain_yaml(s) ? std::string(s) : double_quoted(s);
}

std::string write_yaml(const Node& root) { return YamlWriter().document(root); }

std::string shell_word(std::string_view s) {
    const bool harmless = !s.empty() && std::all_of(s.begin(), s.end(), [](char c) {
        return is_alnum(c) || std::string_view("-_./:=,+@%").find(c) != std::string_view::npos;
    });
    if (harmless) return std::string(s);
    std::string out = "'";
    for (char c : s) {
        if (c == '\'') {
            out += "'\\''";
        } else if (c != '\0') {  // no shell can hold a NUL
            out += c;
        }
    }
    return out + "'";
}

std::string shell_words(const std::vector<std::string>& words) {
    std::string out;
    for (const std::string& w : words) out += (out.empty() ? "" : " ") + shell_word(w);
    return out;
}

std::string python_string(std::string_view s) { return double_quoted(s); }

std::string comment(std::string_view mark, std::string_view s) {
    std::string out;
    for (std::string_view line : split(s, '\n'))
        out += std::string(mark) + " " + one_line(line, '?') + "\n";
    return out;
}

std::string markdown_text(std::string_view s) {
    std::string out;
    for (char c : one_line(s, ' ')) {
        if (std::string_view("\\`*_[]<>|#&~$").find(c) != std::string_view::npos) out += '\\';
        out += c;
    }
    return out;
}

}  // namespace trainyard::render
