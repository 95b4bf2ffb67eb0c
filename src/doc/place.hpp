#pragma once
// Places in a text: byte offset to line and column, and the checks that every parser makes first.

#include <optional>
#include <string>
#include <string_view>

#include "trainyard/base/diagnostic.hpp"

namespace trainyard::doc {

/// Walks forward through a text and knows line and column (in characters, 1-based) where it stands.
class Cursor {
  public:
    Cursor(std::string_view text, std::string_view file) : text_(text), file_(file) {}

    std::size_t offset() const { return offset_; }
    bool at_end() const { return offset_ >= text_.size(); }
    char peek() const { return at_end() ? '\0' : text_[offset_]; }
    void advance();
    void advance_to(std::size_t offset);
    Location where() const { return {std::string(file_), line_, column_}; }

  private:
    std::string_view text_;
    std::string_view file_;
    std::size_t offset_ = 0;
    int line_ = 1;
    int column_ = 1;
};

/// The place of a byte offset; past the end is the end.
Location place_of(std::string_view text, std::string_view file, std::size_t offset);

/// Size, NUL bytes and UTF-8: what must hold before a parser sees the text.
std::optional<Diagnostic> refuse_text(std::string_view text, std::string_view file,
                                      std::size_t max_bytes);

/// The text without a UTF-8 byte order mark.
std::string_view without_byte_order_mark(std::string_view text);

/// At most 60 bytes of user text, cut at a character, control characters as '?', fit for a message.
std::string in_quotes(std::string_view text);

}  // namespace trainyard::doc
