#include "place.hpp"

#include <fmt/format.h>

#include "trainyard/base/text.hpp"

namespace trainyard::doc {

void Cursor::advance() {
    if (at_end()) {
        return;
    }
    const char c = text_[offset_];
    ++offset_;
    if (c == '\n') {
        ++line_;
        column_ = 1;
    } else if (at_end() || (static_cast<unsigned char>(text_[offset_]) & 0xC0U) != 0x80U) {
        // The next byte starts a character.
        ++column_;
    }
}

void Cursor::advance_to(std::size_t offset) {
    while (offset_ < offset && !at_end()) {
        advance();
    }
}

Location place_of(std::string_view text, std::string_view file, std::size_t offset) {
    Cursor cursor(text, file);
    cursor.advance_to(offset);
    return cursor.where();
}

std::optional<Diagnostic> refuse_text(std::string_view text, std::string_view file,
                                      std::size_t max_bytes) {
    if (text.size() > max_bytes) {
        return Diagnostic{.where = {std::string(file), 0, 0},
                          .what = fmt::format("the text is {} MiB long, at most {} MiB are read",
                                              text.size() >> 20U, max_bytes >> 20U),
                          .why = "no description of a model or a job needs that much",
                          .fix = "check that this is the file that you meant"};
    }
    if (const std::size_t nul = text.find('\0'); nul != std::string_view::npos) {
        return Diagnostic{.where = place_of(text, file, nul),
                          .what = "the text contains a NUL byte",
                          .why = "this is a binary file, or text in UTF-16 or UTF-32",
                          .fix = "save it as UTF-8"};
    }
    if (const std::size_t good = valid_utf8_prefix(text); good < text.size()) {
        return Diagnostic{.where = place_of(text, file, good),
                          .what = fmt::format("byte 0x{:02x} is not valid UTF-8",
                                              static_cast<unsigned char>(text[good])),
                          .why = {},
                          .fix = "save the file as UTF-8"};
    }
    return std::nullopt;
}

std::string_view without_byte_order_mark(std::string_view text) {
    constexpr std::string_view kMark = "\xEF\xBB\xBF";
    return text.starts_with(kMark) ? text.substr(kMark.size()) : text;
}

std::string in_quotes(std::string_view text) {
    constexpr std::size_t kMaxBytes = 60;
    std::string out(text.substr(0, kMaxBytes));
    out.resize(valid_utf8_prefix(out));
    for (char& c : out) {
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) {
            c = '?';
        }
    }
    return '"' + out + (text.size() > kMaxBytes ? "…\"" : "\"");
}

}  // namespace trainyard::doc
