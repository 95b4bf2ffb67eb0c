#pragma once
// A plain text table: columns as wide as their widest cell, two spaces apart, no lines.

#include <string>
#include <string_view>
#include <vector>

namespace trainyard::cli {

enum class Align { left, right };

struct Column {
    std::string title;
    Align align = Align::left;
};

class Table {
  public:
    explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

    /// As many cells as there are columns.
    void add(std::vector<std::string> cells);
    bool empty() const { return rows_.empty(); }
    /// Header and rows; no trailing blanks, each line ends with a newline.
    std::string text() const;

  private:
    std::vector<Column> columns_;
    std::vector<std::vector<std::string>> rows_;
};

/// Columns that a text takes on a terminal: characters, without colour escapes.
std::size_t display_width(std::string_view text);

}  // namespace trainyard::cli
