#include "script.hpp"

#include <algorithm>
#include <cctype>

#include "trainyard/base/text.hpp"

namespace trainyard::lint {

namespace {

bool is_name(std::string_view s) {
    if (s.empty() || std::isdigit(static_cast<unsigned char>(s[0])) != 0) return false;
    return std::all_of(s.begin(), s.end(), [](char c) {
        return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
    });
}

class ShellReader {
  public:
    ShellReader(std::string_view text, const Location& at)
        : text_(text), file_(at.file), line_(at.line), column_(at.column) {}

    Script read() {
        while (at_ < text_.size()) step();
        end_word();
        end_command();
        return std::move(script_);
    }

  private:
    char peek(std::size_t ahead = 0) const {
        return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
    }

    void advance() {
        const char c = text_[at_++];
        if (c == '\n') {
            ++line_;
            column_ = 1;
        } else if ((static_cast<unsigned char>(c) & 0xC0U) != 0x80U) {
            ++column_;
        }
    }

    void begin_word() {
        if (in_word_) return;
        in_word_ = true;
        word_ = {{}, {file_, line_, column_}};
    }

    void take() {
        begin_word();
        word_.text += peek();
        advance();
    }

    void step() {
        const char c = peek();
        if (c == '\\') return escape();
        if (c == '\'' || c == '"') return quoted(c);
        if (c == '$' && peek(1) == '(') return substitution();
        if (c == '#' && !in_word_) return comment();
        if (c == '<' && peek(1) == '<' && peek(2) != '<') return heredoc();
        if (c == ' ' || c == '\t' || c == '\r') {
            end_word();
            return advance();
        }
        if (c == '\n' || c == ';' || c == '|' || c == '&') {
            // >&2 and &> are redirections, no ends.
            if (c == '&' && (peek(1) == '>' || (in_word_ && word_.text.ends_with('>')))) {
                return take();
            }
            end_word();
            end_command();
            return advance();
        }
        if ((c == '(' || c == ')') && !in_word_) {
            end_command();
            return advance();
        }
        take();
    }

    void escape() {
        advance();
        if (peek() == '\r') advance();
        if (peek() == '\n') {
            end_word();
            return advance();
        }
        if (at_ < text_.size()) take();
    }

    void quoted(char quote) {
        begin_word();
        advance();
        while (at_ < text_.size() && peek() != quote) {
            if (quote == '"' && peek() == '\\' && at_ + 1 < text_.size()) {
                advance();
                if (peek() == '\n') {
                    advance();
                    continue;
                }
            }
            take();
        }
        if (at_ < text_.size()) advance();
    }

    void substitution() {
        int depth = 0;
        do {
            if (peek() == '(') ++depth;
            if (peek() == ')') --depth;
            take();
        } while (at_ < text_.size() && (depth > 0 || word_.text == "$"));
    }

    void comment() {
        const Location at{file_, line_, column_};
        const std::size_t end = std::min(text_.find('\n', at_), text_.size());
        const std::string_view line = text_.substr(at_, end - at_);
        if (line.starts_with("#SBATCH")) directive(line.substr(7), at);
        while (at_ < end) advance();
    }

    void directive(std::string_view rest, const Location& at) {
        static constexpr std::pair<char, std::string_view> kShort[] = {
            {'N', "nodes"},      {'n', "ntasks"},  {'p', "partition"},     {'t', "time"},
            {'J', "job-name"},   {'o', "output"},  {'c', "cpus-per-task"}, {'G', "gpus"},
            {'C', "constraint"}, {'w', "nodelist"}};
        const std::string_view all = rest;
        rest = trim(rest.substr(0, std::min(rest.find(" #"), rest.size())));
        const auto column = at.column + 7 + static_cast<int>(all.find(rest));
        std::string name;
        std::string value;
        if (rest.starts_with("--")) {
            const std::size_t end = std::min(rest.find_first_of("= \t"), rest.size());
            name = rest.substr(2, end - 2);
            value = end < rest.size() ? trim(rest.substr(end + 1)) : "";
        } else if (rest.size() >= 2 && rest[0] == '-') {
            for (const auto& [letter, word] : kShort) {
                if (rest[1] == letter) name = word;
            }
            if (name.empty()) name = rest.substr(1, 1);
            value = trim(rest.substr(2));
            if (value.starts_with('=')) value.erase(0, 1);
        }
        if (!name.empty()) {
            script_.directives.push_back({name, {value, {at.file, at.line, column}}});
        }
    }

    /// The text of a here-document is data, not commands.
    void heredoc() {
        advance();
        advance();
        if (peek() == '-') advance();
        while (peek() == ' ') advance();
        std::string tag;
        while (at_ < text_.size() &&
               std::string_view(" \t\r\n;&|<>)").find(peek()) == std::string_view::npos) {
            if (peek() != '\'' && peek() != '"' && peek() != '\\') tag += peek();
            advance();
        }
        end_word();
        if (tag.empty()) return;
        std::size_t line = text_.find('\n', at_);
        while (line != std::string_view::npos) {
            const std::size_t end = std::min(text_.find('\n', line + 1), text_.size());
            if (trim(text_.substr(line + 1, end - line - 1)) == tag) {
                skipped_.emplace_back(line, end);
                break;
            }
            line = end < text_.size() ? end : std::string_view::npos;
        }
        // The rest of this line is still a command: only what follows it is skipped.
        const std::size_t rest_end = std::min(text_.find('\n', at_), text_.size());
        while (at_ < rest_end && peek() != '<') step();
        end_word();
        end_command();
        if (skipped_.empty()) return;
        while (at_ < skipped_.back().second) advance();
        skipped_.clear();
    }

    void end_word() {
        if (!in_word_) return;
        in_word_ = false;
        command_.words.push_back(std::move(word_));
    }

    void end_command() {
        std::vector<Said>& words = command_.words;
        if (words.empty()) return;
        const bool exports = words[0].text == "export" || words[0].text == "declare";
        std::size_t first = exports ? 1 : 0;
        std::vector<EnvVar> set;
        for (; first < words.size(); ++first) {
            const std::string& text = words[first].text;
            const std::size_t equals = text.find('=');
            if (equals == std::string::npos || !is_name(text.substr(0, equals))) break;
            set.push_back({text.substr(0, equals), {text.substr(equals + 1), words[first].where}});
        }
        const bool is_prefix = first < words.size();
        auto& into = exports || is_prefix ? script_.env : script_.variables;
        into.insert(into.end(), set.begin(), set.end());
        if (exports) {
            for (; first < words.size(); ++first) export_later(words[first].text);
        } else if (is_prefix) {
            words.erase(words.begin(), words.begin() + static_cast<std::ptrdiff_t>(first));
            script_.commands.push_back(std::move(command_));
        }
        command_ = {};
    }

    void export_later(const std::string& name) {
        for (const EnvVar& v : script_.variables) {
            if (v.name == name) script_.env.push_back(v);
        }
    }

    std::string_view text_;
    std::string file_;
    int line_;
    int column_;
    std::size_t at_ = 0;
    bool in_word_ = false;
    Said word_;
    Command command_;
    Script script_;
    std::vector<std::pair<std::size_t, std::size_t>> skipped_;
};

bool same_option(std::string_view a, std::string_view b) {
    return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(), [](char x, char y) {
               return (x == '_' ? '-' : x) == (y == '_' ? '-' : y);
           });
}

}  // namespace

std::string_view Command::program() const {
    for (const Said& w : words) {
        std::string_view name = w.text;
        name = name.substr(name.rfind('/') == std::string_view::npos ? 0 : name.rfind('/') + 1);
        if (is_one_of(name, {"exec", "time", "nohup", "sudo", "env", "then", "do", "else", "if"})) {
            continue;
        }
        return name;
    }
    return {};
}

Script read_script(std::string_view text, const Location& at) {
    return ShellReader(text, at).read();
}

Said option(const std::vector<Said>& words, std::string_view name) {
    for (std::size_t i = 0; i < words.size(); ++i) {
        const std::string_view text = words[i].text;
        if (!text.starts_with('-')) continue;
        const std::string_view bare = text.substr(text.starts_with("--") ? 2 : 1);
        const std::size_t equals = std::min(bare.find('='), bare.size());
        if (!same_option(bare.substr(0, equals), name)) continue;
        if (equals < bare.size()) {
            return {std::string(bare.substr(equals + 1)), words[i].where};
        }
        const bool has_value = i + 1 < words.size() && !words[i + 1].text.starts_with("--");
        return {has_value ? words[i + 1].text : std::string(), words[i].where};
    }
    return {};
}

bool has_option(const std::vector<Said>& words, std::string_view name) {
    return static_cast<bool>(option(words, name));
}

const EnvVar* find_env(const std::vector<EnvVar>& all, std::string_view name) {
    const auto found =
        std::find_if(all.rbegin(), all.rend(), [&](const EnvVar& v) { return v.name == name; });
    return found == all.rend() ? nullptr : &*found;
}

Said env_value(const std::vector<EnvVar>& all, std::string_view name) {
    const EnvVar* found = find_env(all, name);
    return found == nullptr ? Said{} : found->value;
}

}  // namespace trainyard::lint
