// Checkpoint cadence and the shape of Capacity Blocks: small closed formulas.

#include <algorithm>
#include <cmath>

#include "trainyard/base/contract.hpp"
#include "trainyard/plan/offer.hpp"

namespace trainyard::plan {

Seconds checkpoint_interval(Seconds save, Seconds mean_between_failures) {
    const double d = save / kSecond;
    const double m = mean_between_failures / kSecond;
    TRAINYARD_ASSERT(d >= 0 && m > 0, "saves take time and failures come at a positive rate");
    if (d >= 2 * m) return mean_between_failures;
    const double x = d / (2 * m);
    return (std::sqrt(2 * d * m) * (1 + std::sqrt(x) / 3 + x / 9) - d) * kSecond;
}

std::optional<int> block_days(Seconds needed, const Assumptions& a) {
    const Seconds booked = needed + a.seconds("block.ends_early");
    const double days = std::max(1.0, std::ceil(booked / kDay - 1e-9));
    if (days <= a.number("block.short_days")) return static_cast<int>(days);
    const double weeks = std::ceil(days / 7) * 7;
    if (weeks > a.number("block.max_days")) return std::nullopt;
    return static_cast<int>(weeks);
}

}  // namespace trainyard::plan
