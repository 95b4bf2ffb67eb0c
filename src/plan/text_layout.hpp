#pragma once
// Plain-text layout: padding that counts characters rather than bytes, and wrapping at a column.

#include <cstddef>
#include <string>
#include <string_view>

namespace trainyard::plan {

std::size_t display_width(std::string_view utf8);
std::string pad_right(std::string s, std::size_t width);
std::string pad_left(const std::string& s, std::size_t width);
/// Cut to `width` characters, with "…" at the end if anything was lost.
std::string clip(std::string s, std::size_t width);
/// Words of `text` in lines up to `width`; lines after the first start with `indent` spaces.
std::string wrap(std::string_view text, std::size_t width, std::size_t indent);

}  // namespace trainyard::plan
