#include "trainyard/base/units.hpp"

#include <gtest/gtest.h>

#include <concepts>
#include <type_traits>

namespace trainyard {
namespace {

template <typename A, typename B>
concept CanAdd = requires(A a, B b) { a + b; };
template <typename A, typename B>
concept CanCompare = requires(A a, B b) { a < b; };

// Dimension follows from arithmetic.
static_assert(std::same_as<decltype(kByte / kSecond), BytesPerSecond>);
static_assert(std::same_as<decltype(kByte / kGBPerSecond), Seconds>);
static_assert(std::same_as<decltype(kGiB / kByte), double>);
static_assert(std::same_as<decltype(kGBPerSecond * kSecond), Bytes>);
static_assert(std::same_as<decltype(kUsdPerHour * kHour), Usd>);
static_assert(std::same_as<decltype(kTFlop / kTFlopPerSecond), Seconds>);
static_assert(std::same_as<decltype((kToken / kSecond) * (kSecond / kToken)), double>);

// What must not compile (tests/compile_fail shows that it does not).
static_assert(CanAdd<Bytes, Bytes>);
static_assert(!CanAdd<Bytes, Seconds>);
static_assert(!CanAdd<Usd, double>);
static_assert(!CanCompare<Bytes, Seconds>);
static_assert(!std::is_convertible_v<double, Bytes>);
static_assert(!std::is_constructible_v<Bytes, double>);
static_assert(!std::is_convertible_v<Seconds, double>);

// A unit costs nothing.
static_assert(sizeof(Bytes) == sizeof(double) && std::is_trivially_copyable_v<Bytes>);

TEST(Units, EnterByMultiplyingAndLeaveByDividing) {
    EXPECT_DOUBLE_EQ(80 * kGiB / kGB, 85.899345920);  // 80 * 2^30 / 10^9
    EXPECT_DOUBLE_EQ(400 * kGbitPerSecond / kGBPerSecond, 50.0);
    EXPECT_DOUBLE_EQ(100 * kGB / (50 * kGBPerSecond) / kSecond, 2.0);
    EXPECT_DOUBLE_EQ(36 * kHour / kDay, 1.5);
    EXPECT_DOUBLE_EQ((98.32 * kUsdPerHour) * (10 * kHour) / kUsd, 983.2);
}

TEST(Units, CompareAndAccumulate) {
    Bytes total;
    total += 1 * kKiB;
    total -= 24 * kByte;
    total *= 2;
    EXPECT_EQ(total, 2000 * kByte);
    EXPECT_LT(kGB, kGiB);
    EXPECT_EQ(-kByte + kByte, 0 * kByte);
}

}  // namespace
}  // namespace trainyard
