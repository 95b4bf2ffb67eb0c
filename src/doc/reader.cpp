#include "trainyard/doc/reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "place.hpp"
#include "trainyard/base/text.hpp"

namespace trainyard::doc {

namespace {

std::string_view kind_name(const Node& node) {
    switch (node.kind()) {
        case Node::Kind::null:
            return "null";
        case Node::Kind::boolean:
            return "a boolean";
        case Node::Kind::integer:
        case Node::Kind::number:
            return "a number";
        case Node::Kind::string:
            return "text";
        case Node::Kind::list:
            return "a list";
        case Node::Kind::map:
            return "a map";
    }
    return "unknown";
}

std::string shown(const Node& node) {
    return node.text().empty() && !node.is(Node::Kind::string) ? std::string(kind_name(node))
                                                               : in_quotes(node.text());
}

/// "must be at least 1", "must be between 1 and 128": only the ends that the caller gave.
template <typename T>
std::string range_text(T min, T max) {
    const bool has_min = min != std::numeric_limits<T>::lowest();
    const bool has_max = max != std::numeric_limits<T>::max();
    if (has_min && has_max) {
        return fmt::format("write a value between {} and {}", min, max);
    }
    return has_min ? fmt::format("write a value of at least {}", min)
                   : fmt::format("write a value of at most {}", max);
}

}  // namespace

MapReader::MapReader(const Node& map, std::vector<Diagnostic>& diagnostics)
    : map_(map), diagnostics_(diagnostics) {
    if (!map_.is(Node::Kind::map)) {
        diagnostics_.push_back(
            {.where = map_.where,
             .what = fmt::format("expected a map of fields, found {}",
                                 map_.is(Node::Kind::null) ? "nothing" : shown(map_)),
             .why = {},
             .fix = "write \"name: value\" lines, or a JSON object"});
    }
}

bool MapReader::has(std::string_view key) const {
    const Node* value = map_.find(key);
    return value != nullptr && !value->is(Node::Kind::null);
}

const Node* MapReader::node(std::string_view key) {
    asked_.emplace_back(key);
    return map_.find(key);
}

const Node* MapReader::present(std::string_view key) {
    const Node* value = node(key);
    return value != nullptr && !value->is(Node::Kind::null) ? value : nullptr;
}

const Node* MapReader::required(std::string_view key) {
    const Node* value = present(key);
    // A root that is no map was reported once already.
    if (value == nullptr && map_.is(Node::Kind::map)) {
        error(key, fmt::format("{} is missing", key), fmt::format("add \"{}\"", key));
    }
    return value;
}

void MapReader::wrong_kind(std::string_view key, const Node& value, std::string_view expected,
                           std::string fix) {
    error(key, fmt::format("{}: {} is not {}", key, shown(value), expected), std::move(fix));
}

std::optional<std::int64_t> MapReader::as_integer(std::string_view key, const Node& value,
                                                  IntegerRange range) {
    constexpr double kExact = 9007199254740992.0;  // 2^53
    if (!value.is_numeric()) {
        const bool is_quoted_number =
            value.is(Node::Kind::string) && parse_number(trim(value.text())).has_value();
        wrong_kind(key, value, "a whole number",
                   is_quoted_number ? "remove the quotes" : "write a whole number");
        return std::nullopt;
    }
    const double number = value.as_number();
    if (value.is(Node::Kind::number) && number != std::floor(number)) {
        wrong_kind(key, value, "a whole number", "write a whole number");
        return std::nullopt;
    }
    const bool is_exact = value.is(Node::Kind::integer) || std::abs(number) <= kExact;
    const std::int64_t integer = value.is(Node::Kind::integer) ? value.as_integer()
                                 : is_exact                    ? static_cast<std::int64_t>(number)
                                                               : 0;
    if (!is_exact || integer < range.min || integer > range.max) {
        error(key, fmt::format("{}: {} is out of range", key, value.text()),
              range_text(range.min, range.max));
        return std::nullopt;
    }
    return integer;
}

std::int64_t MapReader::integer(std::string_view key, IntegerRange range) {
    const Node* value = required(key);
    return value == nullptr ? 0 : as_integer(key, *value, range).value_or(0);
}

std::optional<std::int64_t> MapReader::optional_integer(std::string_view key, IntegerRange range) {
    const Node* value = present(key);
    return value == nullptr ? std::nullopt : as_integer(key, *value, range);
}

std::optional<double> MapReader::optional_number(std::string_view key, NumberRange range) {
    const Node* value = present(key);
    if (value == nullptr) {
        return std::nullopt;
    }
    if (!value->is_numeric()) {
        wrong_kind(key, *value, "a number", "write a number without quotes");
        return std::nullopt;
    }
    const double number = value->as_number();
    if (!(number >= range.min && number <= range.max)) {
        error(key, fmt::format("{}: {} is out of range", key, value->text()),
              range_text(range.min, range.max));
        return std::nullopt;
    }
    return number;
}

std::optional<bool> MapReader::optional_boolean(std::string_view key) {
    const Node* value = present(key);
    if (value == nullptr) {
        return std::nullopt;
    }
    if (!value->is(Node::Kind::boolean)) {
        wrong_kind(key, *value, "true or false", "write true or false without quotes");
        return std::nullopt;
    }
    return value->as_bool();
}

std::string MapReader::string(std::string_view key) {
    if (required(key) == nullptr) {
        return {};
    }
    asked_.pop_back();
    return optional_string(key).value_or(std::string());
}

std::optional<std::string> MapReader::optional_string(std::string_view key) {
    const Node* value = present(key);
    if (value == nullptr) {
        return std::nullopt;
    }
    if (!value->is(Node::Kind::string)) {
        wrong_kind(key, *value, "text", "put it in double quotes");
        return std::nullopt;
    }
    return value->text();
}

std::optional<double> MapReader::optional_count(std::string_view key) {
    const Node* value = present(key);
    if (value == nullptr) {
        return std::nullopt;
    }
    const bool is_scalar = value->is_numeric() || value->is(Node::Kind::string);
    const std::optional<double> count = is_scalar ? parse_count(value->text()) : std::nullopt;
    if (!count) {
        wrong_kind(key, *value, "a count", "write it like 300B, 1.5T or 2048");
    }
    return count;
}

std::optional<Seconds> MapReader::optional_duration(std::string_view key) {
    const Node* value = present(key);
    if (value == nullptr) {
        return std::nullopt;
    }
    const std::optional<Seconds> duration = parse_duration(value->text());
    if (!duration) {
        wrong_kind(key, *value, "a duration", "write it with a unit, like 30d, 12h, 90m or 45s");
    }
    return duration;
}

std::optional<Usd> MapReader::optional_usd(std::string_view key) {
    const Node* value = present(key);
    if (value == nullptr) {
        return std::nullopt;
    }
    const bool is_scalar = value->is_numeric() || value->is(Node::Kind::string);
    const std::optional<Usd> amount = is_scalar ? parse_usd(value->text()) : std::nullopt;
    if (!amount) {
        wrong_kind(key, *value, "an amount of US dollars", "write it like 150000, 150k or 1.2M");
    }
    return amount;
}

std::optional<Bytes> MapReader::optional_bytes(std::string_view key) {
    const Node* value = present(key);
    if (value == nullptr) {
        return std::nullopt;
    }
    const std::optional<Bytes> size = parse_bytes(value->text());
    if (!size) {
        wrong_kind(key, *value, "a size in bytes",
                   "write it with a unit, like \"80 GiB\" or \"512 MB\"");
    }
    return size;
}

std::optional<std::string> MapReader::optional_choice(std::string_view key,
                                                      const std::vector<std::string>& choices) {
    const Node* value = present(key);
    if (value == nullptr) {
        return std::nullopt;
    }
    // A choice such as "8" or "none" may parse as a number or a word: its text counts.
    if (std::find(choices.begin(), choices.end(), value->text()) != choices.end()) {
        return value->text();
    }
    const std::optional<std::string> near = nearest(value->text(), choices);
    const std::string all = fmt::format("one of: {}", fmt::join(choices, ", "));
    wrong_kind(key, *value, "a known choice",
               near ? fmt::format("did you mean \"{}\"? {}", *near, all) : all);
    return std::nullopt;
}

void MapReader::error(std::string_view key, std::string what, std::string fix) {
    const Node* value = map_.find(key);
    diagnostics_.push_back({.where = value != nullptr ? value->where : map_.where,
                            .what = std::move(what),
                            .why = {},
                            .fix = std::move(fix)});
}

void MapReader::finish(UnknownKeys policy) {
    if (policy == UnknownKeys::ignore) {
        return;
    }
    for (const auto& [name, value] : map_.members()) {
        if (std::find(asked_.begin(), asked_.end(), name) != asked_.end()) {
            continue;
        }
        const std::optional<std::string> near = nearest(name, asked_);
        diagnostics_.push_back(
            {.severity = policy == UnknownKeys::warn ? Severity::warning : Severity::error,
             .where = value.where,
             .what = fmt::format("unknown field {}", in_quotes(name)),
             .why = {},
             .fix = near ? fmt::format("did you mean \"{}\"?", *near) : "remove it"});
    }
}

}  // namespace trainyard::doc
