#include "table_row.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "date.hpp"
#include "trainyard/base/text.hpp"

namespace trainyard::catalog {

namespace {

std::string quoted(std::string_view s) { return "\"" + std::string(s) + "\""; }

/// A short name of sources.csv is lower case letters, digits and dashes; anything else is a source
/// in full.
bool looks_like_id(std::string_view s) {
    return !s.empty() && std::all_of(s.begin(), s.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
    }) && s.find('-') != std::string_view::npos;
}

}  // namespace

bool check_columns(const doc::CsvTable& table, std::span<const std::string_view> required,
                   std::span<const std::string_view> optional, std::vector<Diagnostic>& out) {
    const std::size_t before = out.size();
    for (const std::string_view column : required) {
        if (!table.has(column)) {
            out.push_back({Severity::error, table.header_place({}),
                           "column " + quoted(column) + " is missing", "every row needs it",
                           "add the column; docs/reference/catalog.md lists them"});
        }
    }
    std::vector<std::string> known(required.begin(), required.end());
    known.insert(known.end(), optional.begin(), optional.end());
    for (const std::string& column : table.header()) {
        if (std::find(known.begin(), known.end(), column) != known.end()) continue;
        const auto near = nearest(column, known);
        out.push_back({Severity::error, table.header_place(column),
                       "unknown column " + quoted(column),
                       "a column that nobody reads is usually a typing slip",
                       near ? "did you mean " + quoted(*near) + "?" : "remove it"});
    }
    return out.size() == before;
}

void TableRow::error(std::string_view column, std::string what, std::string why, std::string fix) {
    out_.push_back({Severity::error, table_.place(row_, column), std::move(what), std::move(why),
                    std::move(fix)});
}

std::string TableRow::required(std::string_view column) {
    std::string value = text(column);
    if (value.empty()) error(column, std::string(column) + " is empty", "every row needs it");
    return value;
}

std::optional<double> TableRow::number(std::string_view column, double minimum,
                                       std::string_view rule) {
    const std::string_view cell = table_.cell(row_, column);
    if (cell.empty()) return std::nullopt;
    const std::optional<double> value = parse_number(cell);
    if (!value || *value < minimum) {
        error(column,
              std::string(column) + ": " + quoted(cell) + " is not a finite number " +
                  std::string(rule),
              "", "write a plain decimal number, or leave the cell empty if it is unknown");
        return std::nullopt;
    }
    return value;
}

std::optional<double> TableRow::positive(std::string_view column) {
    return number(column, std::numeric_limits<double>::min(), "above 0");
}

std::optional<double> TableRow::not_negative(std::string_view column) {
    return number(column, 0, "of at least 0");
}

double TableRow::required_positive(std::string_view column) {
    if (required(column).empty()) return 1;
    return positive(column).value_or(1);
}

double TableRow::required_not_negative(std::string_view column) {
    if (required(column).empty()) return 0;
    return not_negative(column).value_or(0);
}

std::optional<int> TableRow::count(std::string_view column) {
    const std::optional<double> value = not_negative(column);
    if (!value) return std::nullopt;
    if (*value != std::floor(*value) || *value > 1e6) {
        error(column,
              std::string(column) + ": " + quoted(table_.cell(row_, column)) + " is not a count",
              "a whole number up to 1,000,000");
        return std::nullopt;
    }
    return static_cast<int>(*value);
}

int TableRow::required_count(std::string_view column) {
    if (required(column).empty()) return 0;
    return count(column).value_or(0);
}

Yes TableRow::yes_no(std::string_view column) {
    const std::string_view cell = table_.cell(row_, column);
    if (cell.empty()) return Yes::unknown;
    if (cell == "yes") return Yes::yes;
    if (cell != "no")
        error(column, std::string(column) + ": " + quoted(cell) + " is neither yes nor no", "",
              "empty is unknown");
    return Yes::no;
}

Provenance TableRow::provenance() {
    Provenance p;
    p.source = required("source");
    if (const auto known = sources_.find(p.source); known != sources_.end()) {
        p.source = known->second;
    } else if (looks_like_id(p.source)) {
        error("source", "source " + quoted(p.source) + " is not in sources.csv",
              "a short name must be explained there");
    }
    p.as_of = required("as_of");
    if (!p.as_of.empty() && !day_number(p.as_of)) {
        error("as_of", "as_of: " + quoted(p.as_of) + " is not a date", "",
              "write YYYY, YYYY-MM or YYYY-MM-DD");
    }
    const std::string status = required("status");
    if (const auto parsed = parse_status(status)) {
        p.status = *parsed;
    } else if (!status.empty()) {
        error("status", "status: " + quoted(status) + " is not known", "",
              "one of guide_claim, vendor_list, vendor_measured, third_party_measured, "
              "we_measured, modelled, assumed");
    }
    return p;
}

void TableRow::refuse_future(std::string_view as_of, std::string_view today) {
    const std::optional<int> age = age_in_days(as_of, today);
    if (!age || *age >= 0) return;
    error("as_of", "as_of: " + std::string(as_of) + " is in the future",
          "today is " + std::string(today), "write the day on which the price was seen");
}

}  // namespace trainyard::catalog
