#include "text_layout.hpp"

#include "trainyard/base/text.hpp"

namespace trainyard::plan {
namespace {
bool starts_character(char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }
}  // namespace

std::size_t display_width(std::string_view s) {
    std::size_t n = 0;
    for (char c : s) n += starts_character(c) ? std::size_t{1} : std::size_t{0};
    return n;
}

std::string pad_right(std::string s, std::size_t width) {
    const std::size_t n = display_width(s);
    if (n < width) s.append(width - n, ' ');
    return s;
}

std::string pad_left(const std::string& s, std::size_t width) {
    const std::size_t n = display_width(s);
    return n < width ? std::string(width - n, ' ') + s : s;
}

std::string clip(std::string s, std::size_t width) {
    if (display_width(s) <= width) return s;
    std::size_t n = 0;
    std::size_t at = 0;
    while (at < s.size()) {
        if (starts_character(s[at]) && ++n == width) break;
        ++at;
    }
    return s.substr(0, at) + "…";
}

std::string wrap(std::string_view text, std::size_t width, std::size_t indent) {
    std::string out;
    std::size_t used = 0;
    for (std::string_view word : split(text, ' ')) {
        const std::size_t n = display_width(word);
        if (used > 0 && used + 1 + n > width) {
            out += "\n" + std::string(indent, ' ');
            used = 0;
        }
        if (used > 0) {
            out += ' ';
            ++used;
        }
        out += word;
        used += n;
    }
    return out;
}

}  // namespace trainyard::plan
