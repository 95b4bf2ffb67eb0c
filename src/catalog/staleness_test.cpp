#include "trainyard/catalog/staleness.hpp"

#include <gtest/gtest.h>

namespace trainyard::catalog {
namespace {

Price price(const char* item, const char* as_of) {
    Price p;
    p.item = item;
    p.region = "us-east-1";
    p.provenance.as_of = as_of;
    return p;
}

TEST(Staleness, ninety_days_are_fresh_and_ninety_one_are_not) {
    const std::vector<Price> prices = {
        price("p5.48xlarge", "2026-09-02")};  // 90 days before 2026-12-01
    EXPECT_TRUE(stale_prices(prices, "2026-12-01").empty());
    const auto warned = stale_prices(prices, "2026-12-02");
    ASSERT_EQ(warned.size(), 1u);
    EXPECT_EQ(warned[0].severity, Severity::warning);
    EXPECT_NE(warned[0].what.find("p5.48xlarge"), std::string::npos);
    EXPECT_NE(warned[0].what.find("2026-09-02"), std::string::npos);
    EXPECT_NE(warned[0].what.find("91 days"), std::string::npos);
    EXPECT_NE(warned[0].fix.find("--prices"), std::string::npos);
}

TEST(Staleness, the_oldest_come_first_and_the_rest_is_counted) {
    std::vector<Price> prices;
    for (int i = 0; i < 8; ++i)
        prices.push_back(price(("p" + std::to_string(i)).c_str(), "2026-01-01"));
    prices.push_back(price("oldest", "2024-01-01"));
    const auto warned = stale_prices(prices, "2026-12-01", 90, 3);
    ASSERT_EQ(warned.size(), 4u);
    EXPECT_NE(warned[0].what.find("oldest"), std::string::npos);
    EXPECT_NE(warned[3].what.find("6 more"), std::string::npos);
}

TEST(Staleness, a_price_without_a_date_never_warns) {
    EXPECT_TRUE(stale_prices(std::vector<Price>{price("own", "")}, "2026-12-01").empty());
    EXPECT_TRUE(stale_prices(std::vector<Price>{price("own", "2020-01-01")}, "today").empty());
}

}  // namespace
}  // namespace trainyard::catalog
