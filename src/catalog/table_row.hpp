#pragma once
// One row of a catalog table, read cell by cell. Every mistake becomes a diagnostic with file,
// line and column; the value returned after a mistake is a placeholder that never leaves the
// loader.

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "trainyard/catalog/catalog.hpp"
#include "trainyard/doc/csv.hpp"

namespace trainyard::catalog {

/// The dearest instance of 2026 costs under $1,000 an hour; more than this is a slip of units.
inline constexpr UsdPerSecond kMostPerHour = 1e6 * kUsdPerHour;

/// sources.csv: short name -> the source it stands for.
using Sources = std::map<std::string, std::string, std::less<>>;

/// Checks the header: every required column is there and no column is unknown (a typing slip loses
/// a column otherwise).
bool check_columns(const doc::CsvTable& table, std::span<const std::string_view> required,
                   std::span<const std::string_view> optional, std::vector<Diagnostic>& out);

class TableRow {
  public:
    TableRow(const doc::CsvTable& table, std::size_t row, const Sources& sources,
             std::vector<Diagnostic>& out)
        : table_(table), row_(row), sources_(sources), out_(out) {}

    std::string text(std::string_view column) const {
        return std::string(table_.cell(row_, column));
    }
    std::string required(std::string_view column);
    /// Finite and > 0. Empty is nullopt: unknown, never 0.
    std::optional<double> positive(std::string_view column);
    double required_positive(std::string_view column);
    /// Finite and >= 0.
    std::optional<double> not_negative(std::string_view column);
    double required_not_negative(std::string_view column);
    std::optional<int> count(std::string_view column);
    int required_count(std::string_view column);
    Yes yes_no(std::string_view column);
    Provenance provenance();
    /// Nobody has seen a price of tomorrow. No `today`: not checked.
    void refuse_future(std::string_view as_of, std::string_view today);

    /// A mistake in the cell of `column`, or of the whole row ("").
    void error(std::string_view column, std::string what, std::string why = {},
               std::string fix = {});

  private:
    std::optional<double> number(std::string_view column, double minimum, std::string_view rule);

    const doc::CsvTable& table_;
    std::size_t row_;
    const Sources& sources_;
    std::vector<Diagnostic>& out_;
};

}  // namespace trainyard::catalog
