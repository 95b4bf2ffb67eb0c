#include <gtest/gtest.h>

#include <limits>

#include "trainyard/base/text.hpp"

namespace trainyard {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNotANumber = std::numeric_limits<double>::quiet_NaN();

TEST(FormatCount, ThreeSignificantDigits) {
    EXPECT_EQ(format_count(8030261248), "8.03B");
    EXPECT_EQ(format_count(70553706496), "70.6B");
    EXPECT_EQ(format_count(405e9), "405B");
    EXPECT_EQ(format_count(1.5e12), "1.5T");
    EXPECT_EQ(format_count(300e9), "300B");
    EXPECT_EQ(format_count(2048), "2.05k");
    EXPECT_EQ(format_count(512), "512");
    EXPECT_EQ(format_count(0), "0");
    EXPECT_EQ(format_count(-3e6), "-3M");
}

TEST(FormatCount, RoundsUpIntoTheNextSuffix) {
    EXPECT_EQ(format_count(999.6e6), "1B");
    EXPECT_EQ(format_count(999.4e6), "999M");
    EXPECT_EQ(format_count(5e15), "5000T");
}

TEST(FormatDuration, PicksTheUnit) {
    EXPECT_EQ(format_duration(27.3 * kDay), "27.3 d");
    EXPECT_EQ(format_duration(5.2 * kHour), "5.2 h");
    EXPECT_EQ(format_duration(38 * kMinute), "38 min");
    EXPECT_EQ(format_duration(1.5 * kMinute), "1.5 min");
    EXPECT_EQ(format_duration(1.82 * kSecond), "1.82 s");
    EXPECT_EQ(format_duration(45.3 * kSecond), "45.3 s");
    EXPECT_EQ(format_duration(340 * kMillisecond), "340 ms");
    EXPECT_EQ(format_duration(12 * kMicrosecond), "12 us");
    EXPECT_EQ(format_duration(0 * kSecond), "0 s");
    EXPECT_EQ(format_duration(12345 * kDay), "12,345 d");
    EXPECT_EQ(format_duration(-5.2 * kHour), "-5.2 h");
}

// 59.97 s must not print as "60.0 s", nor 23.97 h as "24.0 h".
TEST(FormatDuration, RoundsUpIntoTheNextUnit) {
    EXPECT_EQ(format_duration(59.97 * kSecond), "1.0 min");
    EXPECT_EQ(format_duration(59.7 * kMinute), "1.0 h");
    EXPECT_EQ(format_duration(23.97 * kHour), "1.0 d");
    EXPECT_EQ(format_duration(999.8 * kMillisecond), "1.00 s");
    EXPECT_EQ(format_duration(999.8 * kMicrosecond), "1 ms");
}

TEST(FormatUsd, CentsBelowTenThousand) {
    EXPECT_EQ(format_usd(1234.56 * kUsd), "$1,234.56");
    EXPECT_EQ(format_usd(123456.78 * kUsd), "$123,457");
    EXPECT_EQ(format_usd(9999.999 * kUsd), "$10,000");
    EXPECT_EQ(format_usd(0 * kUsd), "$0.00");
    EXPECT_EQ(format_usd(-5 * kUsd), "-$5.00");
    EXPECT_EQ(format_usd(-0.001 * kUsd), "$0.00");
    EXPECT_EQ(format_usd_cents(123456.78 * kUsd), "$123,456.78");
    EXPECT_EQ(format_usd_cents(1234567 * kUsd), "$1,234,567.00");
}

TEST(FormatBytes, BinaryUnits) {
    EXPECT_EQ(format_bytes(72.4 * kGiB), "72.4 GiB");
    EXPECT_EQ(format_bytes(1.5 * kTiB), "1.50 TiB");
    EXPECT_EQ(format_bytes(640 * kGiB), "640 GiB");
    EXPECT_EQ(format_bytes(1023.9 * kGiB), "1.00 TiB");
    EXPECT_EQ(format_bytes(17 * kByte), "17 B");
    EXPECT_EQ(format_bytes(-1 * kGiB), "-1.00 GiB");
}

TEST(FormatPercent, OneDecimal) {
    EXPECT_EQ(format_percent(0.412), "41.2 %");
    EXPECT_EQ(format_percent(-0.00001), "0.0 %");
}

TEST(Format, NotFiniteIsAWordNotANumber) {
    EXPECT_EQ(format_count(kNotANumber), "n/a");
    EXPECT_EQ(format_duration(kInfinity * kSecond), "infinite");
    EXPECT_EQ(format_usd(-kInfinity * kUsd), "-infinite");
    EXPECT_EQ(format_bytes(kNotANumber * kByte), "n/a");
    EXPECT_EQ(format_percent(kInfinity), "infinite");
    EXPECT_EQ(format_fixed(kNotANumber, 2), "n/a");
}

}  // namespace
}  // namespace trainyard
