#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tl/expected.hpp>

#include "trainyard/doc/csv.hpp"
#include "trainyard/workload/model.hpp"

namespace trainyard::validate {

/// Typed access to one row; an empty or non-numeric cell is nullopt.
class Row {
  public:
    Row(const doc::CsvTable& table, std::size_t index) : table_(table), index_(index) {}
    std::string_view cell(std::string_view column) const { return table_.cell(index_, column); }
    std::string text(std::string_view column) const { return std::string(cell(column)); }
    std::optional<double> number(std::string_view column) const;
    std::optional<int> count(std::string_view column) const;  ///< whole, 1 .. 10^8

  private:
    const doc::CsvTable& table_;
    std::size_t index_;
};

/// The model's shape: a built-in model with the same layers, hidden size and heads if there is one,
/// else the row's own numbers with 4h and a 51,200-entry vocabulary where the row is silent. The
/// error is the reason for skipping.
tl::expected<workload::Model, std::string> model_of_row(const Row& r,
                                                        std::vector<std::string>& assumptions);

}  // namespace trainyard::validate
