#pragma once
// Ledger money: whole micro-dollars in an integer, so that a bill's items sum to its total exactly.

#include <cmath>
#include <compare>
#include <cstdint>

#include "trainyard/base/units.hpp"

namespace trainyard::plan {

struct MicroUsd {
    std::int64_t value = 0;  ///< 1 = 10^-6 US dollar
    auto operator<=>(const MicroUsd&) const = default;
};

/// Sums saturate at +-9e12 dollars: an absurd job costs "at least that", never a negative amount.
inline constexpr std::int64_t kMostMicroUsd = 9'000'000'000'000'000'000;

constexpr MicroUsd operator+(MicroUsd a, MicroUsd b) {
    std::int64_t sum = 0;
    const bool overflow = __builtin_add_overflow(a.value, b.value, &sum);
    if (overflow || sum > kMostMicroUsd || sum < -kMostMicroUsd)
        return {a.value > 0 ? kMostMicroUsd : -kMostMicroUsd};
    return {sum};
}
constexpr MicroUsd operator-(MicroUsd a, MicroUsd b) { return a + MicroUsd{-b.value}; }

/// Rounded half up to whole cents: every printed item is exact, so printed items sum to the printed
/// total. Amounts beyond 9e12 dollars saturate.
inline MicroUsd to_cents(Usd amount) {
    const double cents = amount / kUsd * 100.0;
    const double limited = cents > 9e14 ? 9e14 : (cents < -9e14 ? -9e14 : cents);
    return {static_cast<std::int64_t>(std::floor(limited + 0.5)) * 10'000};
}
inline Usd to_usd(MicroUsd m) { return static_cast<double>(m.value) * 1e-6 * kUsd; }

}  // namespace trainyard::plan
