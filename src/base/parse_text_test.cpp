#include <gtest/gtest.h>

#include "trainyard/base/text.hpp"

namespace trainyard {
namespace {

TEST(ParseNumber, TakesPlainDecimals) {
    EXPECT_EQ(parse_number("42"), 42.0);
    EXPECT_EQ(parse_number("-1.5"), -1.5);
    EXPECT_EQ(parse_number("1e3"), 1000.0);
    EXPECT_EQ(parse_number(".5"), 0.5);
}

TEST(ParseNumber, RefusesEverythingElse) {
    for (const char* text : {"", "-", "nan", "inf", "-inf", "infinity", "0x10", "1,000", "12a",
                             " 1", "1 ", "+1", "1e999", "--1", ".", "1.2.3", "e5"}) {
        EXPECT_EQ(parse_number(text), std::nullopt) << text;
    }
}

TEST(ParseCount, SuffixesArePowersOfAThousand) {
    EXPECT_EQ(parse_count("300B"), 300e9);
    EXPECT_EQ(parse_count("1.5T"), 1.5e12);
    EXPECT_EQ(parse_count("40M"), 40e6);
    EXPECT_EQ(parse_count("0.25M"), 250e3);
    EXPECT_EQ(parse_count("500k"), 500e3);
    EXPECT_EQ(parse_count("2048"), 2048.0);
    EXPECT_EQ(parse_count("13 b"), 13e9);
    EXPECT_EQ(parse_count("1e12"), 1e12);
    EXPECT_EQ(parse_count("0"), 0.0);
}

TEST(ParseCount, RefusesUnknownSuffixesAndNegatives) {
    for (const char* text :
         {"300Q", "-5", "B", "", "nan", "1e999T", "5BB", "1 000", "0x10k", "5e"}) {
        EXPECT_EQ(parse_count(text), std::nullopt) << text;
    }
}

TEST(ParseDuration, AddsTheParts) {
    EXPECT_EQ(parse_duration("30d"), 30 * kDay);
    EXPECT_EQ(parse_duration("12h"), 12 * kHour);
    EXPECT_EQ(parse_duration("90m"), 90 * kMinute);
    EXPECT_EQ(parse_duration("45s"), 45 * kSecond);
    EXPECT_EQ(parse_duration("2w"), 14 * kDay);
    EXPECT_EQ(parse_duration("1d12h"), 36 * kHour);
    EXPECT_EQ(parse_duration("1.5 days"), 36 * kHour);
    EXPECT_EQ(parse_duration("1 week 2 days"), 9 * kDay);
    EXPECT_EQ(parse_duration("250ms"), 250 * kMillisecond);
}

TEST(ParseDuration, RefusesBareNumbersAndUnknownUnits) {
    for (const char* text :
         {"30", "", "d", "30x", "-1d", "1d-2h", "1d12", "nan d", "1..5d", "3 fortnights"}) {
        EXPECT_EQ(parse_duration(text), std::nullopt) << text;
    }
}

TEST(ParseUsd, TakesSignGroupsAndSuffixes) {
    EXPECT_EQ(parse_usd("150k"), 150e3 * kUsd);
    EXPECT_EQ(parse_usd("$150,000"), 150e3 * kUsd);
    EXPECT_EQ(parse_usd("$1,234.50"), 1234.5 * kUsd);
    EXPECT_EQ(parse_usd("1.2M"), 1.2e6 * kUsd);
    EXPECT_EQ(parse_usd("10"), 10 * kUsd);
    EXPECT_EQ(parse_usd("1500000"), 1.5e6 * kUsd);
}

TEST(ParseUsd, RefusesWrongGroupsAndNegatives) {
    for (const char* text :
         {"", "$", "-5", "1,00", "1,0000", ",100", "15,00,000", "100 EUR", "nan"}) {
        EXPECT_EQ(parse_usd(text), std::nullopt) << text;
    }
}

TEST(ParseBytes, DecimalAndBinaryUnitsDiffer) {
    EXPECT_EQ(parse_bytes("80 GiB"), 80 * kGiB);
    EXPECT_EQ(parse_bytes("80GB"), 80 * kGB);
    EXPECT_EQ(parse_bytes("512MB"), 512 * kMB);
    EXPECT_EQ(parse_bytes("1 B"), 1 * kByte);
    EXPECT_EQ(parse_bytes("2TiB"), 2 * kTiB);
}

TEST(ParseBytes, RefusesBareNumbersAndBits) {
    for (const char* text : {"80", "", "80 Gb", "80 gigs", "-1 GiB", "GiB", "1e400 GiB"}) {
        EXPECT_EQ(parse_bytes(text), std::nullopt) << text;
    }
}

}  // namespace
}  // namespace trainyard
