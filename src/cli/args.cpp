#include <fmt/format.h>

#include <cmath>

#include "command.hpp"
#include "trainyard/base/contract.hpp"
#include "trainyard/base/text.hpp"

namespace trainyard::cli {

const Args::Slot& Args::slot(std::string_view name) const {
    const auto found = slots.find(name);
    TRAINYARD_ASSERT(found != slots.end(), "a command asks only for what its table names");
    return found->second;
}

bool Args::flag(std::string_view name) const { return slot(name).is_given; }

bool Args::given(std::string_view name) const { return slot(name).is_given; }

std::string Args::text(std::string_view name) const {
    return optional(name).value_or(std::string());
}

std::optional<std::string> Args::optional(std::string_view name) const {
    const Slot& found = slot(name);
    if (!found.values.empty()) {
        return found.values.front();
    }
    return found.fallback.empty() ? std::nullopt : std::optional(found.fallback);
}

std::vector<std::string> Args::list(std::string_view name) const { return slot(name).values; }

void Args::mistake(std::string_view name, std::string_view expected, std::string fix,
                   Mistakes& mistakes) const {
    const std::string dashes = slot(name).is_option ? "--" : "";
    mistakes.push_back({.where = {fmt::format("{}{}", dashes, name), 0, 0},
                        .what = fmt::format("\"{}\" is not {}", text(name), expected),
                        .why = {},
                        .fix = std::move(fix)});
}

std::optional<double> Args::number(std::string_view name, Mistakes& mistakes) const {
    const std::optional<std::string> word = optional(name);
    if (!word) {
        return std::nullopt;
    }
    const std::optional<double> value = parse_number(*word);
    if (!value) {
        mistake(name, "a number", "write a plain decimal number", mistakes);
    }
    return value;
}

std::optional<int> Args::integer(std::string_view name, int min, int max,
                                 Mistakes& mistakes) const {
    const std::optional<std::string> word = optional(name);
    if (!word) {
        return std::nullopt;
    }
    const std::optional<double> value = parse_number(*word);
    if (!value || *value != std::floor(*value) || *value < min || *value > max) {
        mistake(name, fmt::format("a whole number between {} and {}", min, max), {}, mistakes);
        return std::nullopt;
    }
    return static_cast<int>(*value);
}

std::optional<double> Args::count(std::string_view name, Mistakes& mistakes) const {
    const std::optional<std::string> word = optional(name);
    if (!word) {
        return std::nullopt;
    }
    const std::optional<double> value = parse_count(*word);
    if (!value) {
        mistake(name, "a count", "write it like 300B, 1.5T or 2048", mistakes);
    }
    return value;
}

std::optional<Seconds> Args::duration(std::string_view name, Mistakes& mistakes) const {
    const std::optional<std::string> word = optional(name);
    if (!word) {
        return std::nullopt;
    }
    const std::optional<Seconds> value = parse_duration(*word);
    if (!value) {
        mistake(name, "a duration", "write it with a unit, like 30d, 12h or 90m", mistakes);
    }
    return value;
}

std::optional<Usd> Args::usd(std::string_view name, Mistakes& mistakes) const {
    const std::optional<std::string> word = optional(name);
    if (!word) {
        return std::nullopt;
    }
    const std::optional<Usd> value = parse_usd(*word);
    if (!value) {
        mistake(name, "an amount of US dollars", "write it like 150000, 150k or 1.2M", mistakes);
    }
    return value;
}

std::optional<Bytes> Args::bytes(std::string_view name, Mistakes& mistakes) const {
    const std::optional<std::string> word = optional(name);
    if (!word) {
        return std::nullopt;
    }
    const std::optional<Bytes> value = parse_bytes(*word);
    if (!value) {
        mistake(name, "a size in bytes", "write it with a unit, like 80GiB or 512MB", mistakes);
    }
    return value;
}

}  // namespace trainyard::cli
