#include "trainyard/base/text.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>

namespace trainyard {

namespace {

bool is_space(char c) {
    return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v';
}

/// Length of the UTF-8 sequence at the start of `s`, 0 if it is malformed (RFC 3629, section 4).
std::size_t utf8_sequence_length(std::string_view s) {
    const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(s[i]); };
    const std::uint8_t lead = byte(0);
    if (lead < 0x80) {
        return 1;
    }
    const std::size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
    if (lead < 0xC2 || lead > 0xF4 || s.size() < length) {
        return 0;
    }
    // The second byte is narrower after these leads: overlong forms, surrogates, beyond U+10FFFF.
    const std::uint8_t low = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
    const std::uint8_t high = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
    if (byte(1) < low || byte(1) > high) {
        return 0;
    }
    for (std::size_t i = 2; i < length; ++i) {
        if ((byte(i) & 0xC0) != 0x80) {
            return 0;
        }
    }
    return length;
}

/// How many edits still look like a slip of the keyboard for a word of this length.
int slip_limit(std::size_t length) {
    if (length < 3) {
        return 0;
    }
    if (length == 3) {
        return 1;
    }
    return std::clamp(static_cast<int>(length) / 3, 2, 4);
}

}  // namespace

std::string_view trim(std::string_view s) {
    while (!s.empty() && is_space(s.front())) {
        s.remove_prefix(1);
    }
    while (!s.empty() && is_space(s.back())) {
        s.remove_suffix(1);
    }
    return s;
}

std::string to_lower(std::string_view s) {
    std::string out(s);
    for (char& c : out) {
        if (c >= 'A' && c <= 'Z') {
            c = static_cast<char>(c - 'A' + 'a');
        }
    }
    return out;
}

std::vector<std::string_view> split(std::string_view s, char separator) {
    std::vector<std::string_view> parts;
    while (true) {
        const std::size_t at = s.find(separator);
        parts.push_back(s.substr(0, at));
        if (at == std::string_view::npos) {
            return parts;
        }
        s.remove_prefix(at + 1);
    }
}

bool is_valid_utf8(std::string_view s) { return valid_utf8_prefix(s) == s.size(); }

namespace {

/// Bytes at the front of `s` that a terminal might act on: C0 and DEL, C1 (U+0080 to U+009F), and
/// the bidirectional controls U+202A to U+202E and U+2066 to U+2069. 0 if it starts harmlessly.
std::size_t control_length(std::string_view s) {
    const auto at = [&s](std::size_t i) {
        return i < s.size() ? static_cast<unsigned char>(s[i]) : 0U;
    };
    if (at(0) == '\n' || at(0) == '\t') return 0;
    if (at(0) < 0x20 || at(0) == 0x7F) return 1;
    if (at(0) == 0xC2 && at(1) >= 0x80 && at(1) <= 0x9F) return 2;
    if (at(0) == 0xE2 && at(1) == 0x80 && at(2) >= 0xAA && at(2) <= 0xAE) return 3;
    if (at(0) == 0xE2 && at(1) == 0x81 && at(2) >= 0xA6 && at(2) <= 0xA9) return 3;
    return 0;
}

}  // namespace

std::string printable(std::string_view s, std::size_t limit) {
    const bool is_long = s.size() > limit;
    if (is_long) s = s.substr(0, valid_utf8_prefix(s.substr(0, limit)));
    std::string out;
    out.reserve(s.size());
    while (!s.empty()) {
        const std::size_t control = control_length(s);
        out += control > 0 ? '?' : s.front();
        s.remove_prefix(std::max<std::size_t>(control, 1));
    }
    if (is_long) out += "…";
    return out;
}

std::size_t valid_utf8_prefix(std::string_view s) {
    std::size_t at = 0;
    while (at < s.size()) {
        const std::size_t length = utf8_sequence_length(s.substr(at));
        if (length == 0) {
            return at;
        }
        at += length;
    }
    return at;
}

std::string escape_xml(std::string_view s) {
    std::string out;
    for (const char c : s) {
        switch (c) {
            case '&':
                out += "&amp;";
                break;
            case '<':
                out += "&lt;";
                break;
            case '>':
                out += "&gt;";
                break;
            case '"':
                out += "&quot;";
                break;
            case '\t':
                out += "&#9;";
                break;
            case '\n':
                out += "&#10;";
                break;
            default:
                out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
        }
    }
    return out;
}

int edit_distance(std::string_view a, std::string_view b) {
    std::vector<int> row(b.size() + 1);
    std::iota(row.begin(), row.end(), 0);
    for (std::size_t i = 1; i <= a.size(); ++i) {
        int diagonal = row[0];
        row[0] = static_cast<int>(i);
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const int substitute = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
            diagonal = row[j];
            row[j] = std::min({substitute, row[j] + 1, row[j - 1] + 1});
        }
    }
    return row.back();
}

std::optional<std::string> nearest(std::string_view word, std::span<const std::string> candidates) {
    const std::string lower = to_lower(word);
    // A very long word is no slip of the keyboard, and the distance is quadratic.
    if (lower.size() > 128) {
        return std::nullopt;
    }
    int best = slip_limit(lower.size()) + 1;
    const std::string* found = nullptr;
    for (const std::string& candidate : candidates) {
        const int distance = edit_distance(lower, to_lower(candidate));
        if (distance < best) {
            best = distance;
            found = &candidate;
        }
    }
    return found == nullptr ? std::nullopt : std::optional(*found);
}

}  // namespace trainyard
