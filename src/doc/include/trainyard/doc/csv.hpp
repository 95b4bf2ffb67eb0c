#pragma once
// RFC 4180 tables with a header row. Every cell knows its line and column.

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "trainyard/base/result.hpp"

namespace trainyard::doc {

class CsvTable {
  public:
    const std::string& file() const { return file_; }
    const std::vector<std::string>& header() const { return header_; }
    std::size_t size() const { return rows_.size(); }
    bool has(std::string_view column) const;
    /// Cell text; empty if the cell is empty or the column does not exist.
    std::string_view cell(std::size_t row, std::string_view column) const;
    int line(std::size_t row) const { return lines_[row]; }
    /// Where the cell begins; only the row's line if there is no such column.
    Location place(std::size_t row, std::string_view column) const;
    /// The column's name in the header; only the header's line if there is no such column.
    Location header_place(std::string_view column) const;

    struct Place {
        int line = 0;
        int column = 0;
    };

  private:
    friend Result<CsvTable> parse_csv(std::string_view text, std::string_view file);
    std::optional<Diagnostic> set_header(std::vector<std::string> names, int line);

    std::string file_;
    std::vector<std::string> header_;
    std::vector<std::vector<std::string>> rows_;
    std::vector<int> lines_;
    std::vector<Place> places_;  ///< of all cells, row by row
    std::vector<Place> header_places_;
    int header_line_ = 0;
    std::unordered_map<std::string, std::size_t> index_;
};

/// Refuses: empty text, over 64 MiB, invalid UTF-8, NUL, a duplicate column, a row with another
/// number of cells, an unterminated quote. Lines starting with '#' before the header are comments.
Result<CsvTable> parse_csv(std::string_view text, std::string_view file);

}  // namespace trainyard::doc
