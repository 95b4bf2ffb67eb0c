#pragma once
// Reads a map node field by field, collecting every mistake as a diagnostic instead of stopping at
// the first.
//
//     MapReader r(node, diagnostics);
//     auto layers = r.integer("num_hidden_layers", {.min = 1, .max = 10000});
//     r.finish(UnknownKeys::warn);      // names keys nobody asked for, with the nearest known one
//
// A missing required field, a wrong kind (a string where a number belongs), and a value out of
// range are errors; the return value is then the fallback and must not be used if any error was
// collected.

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trainyard/base/diagnostic.hpp"
#include "trainyard/base/units.hpp"
#include "trainyard/doc/node.hpp"

namespace trainyard::doc {

enum class UnknownKeys { ignore, warn, error };

struct IntegerRange {
    std::int64_t min = std::numeric_limits<std::int64_t>::min();
    std::int64_t max = std::numeric_limits<std::int64_t>::max();
};
struct NumberRange {
    double min = -std::numeric_limits<double>::max();
    double max = std::numeric_limits<double>::max();
};

class MapReader {
  public:
    MapReader(const Node& map, std::vector<Diagnostic>& diagnostics);

    bool has(std::string_view key) const;  ///< present and not null
    const Node* node(std::string_view key);

    std::int64_t integer(std::string_view key, IntegerRange range);  ///< required
    std::optional<std::int64_t> optional_integer(std::string_view key, IntegerRange range);
    std::optional<double> optional_number(std::string_view key, NumberRange range);
    std::optional<bool> optional_boolean(std::string_view key);
    std::string string(std::string_view key);  ///< required
    std::optional<std::string> optional_string(std::string_view key);
    /// Human quantities; also accept a plain number where the unit is unambiguous (counts,
    /// dollars).
    std::optional<double> optional_count(std::string_view key);
    std::optional<Seconds> optional_duration(std::string_view key);
    std::optional<Usd> optional_usd(std::string_view key);
    std::optional<Bytes> optional_bytes(std::string_view key);
    /// One of `choices`, else an error naming them and the nearest.
    std::optional<std::string> optional_choice(std::string_view key,
                                               const std::vector<std::string>& choices);

    void error(std::string_view key, std::string what, std::string fix = {});
    void finish(UnknownKeys policy);

  private:
    const Node* present(std::string_view key);
    const Node* required(std::string_view key);
    void wrong_kind(std::string_view key, const Node& value, std::string_view expected,
                    std::string fix);
    std::optional<std::int64_t> as_integer(std::string_view key, const Node& value,
                                           IntegerRange range);

    const Node& map_;
    std::vector<Diagnostic>& diagnostics_;
    std::vector<std::string> asked_;
};

}  // namespace trainyard::doc
