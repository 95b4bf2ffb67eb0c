#include "network_interfaces.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "test_recipe.hpp"

namespace trainyard::render {
namespace {

std::vector<NetworkInterface> of(std::string_view type) {
    return network_interfaces(test_recipe(type, 2, Purchase::on_demand).instance, true);
}

// Counts and cards: "EFA-supported instance types" of the EC2 user guide, as of 2026-08.
TEST(NetworkInterfaces, OnEveryCardOfP5) {
    const auto all = of("p5.48xlarge");
    ASSERT_EQ(all.size(), 33U);  // one ENA interface and 32 EFA
    EXPECT_FALSE(all[0].efa_only);
    EXPECT_EQ(all[1].card, 0);
    EXPECT_EQ(all[1].device, 1);
    for (std::size_t i = 2; i < all.size(); ++i) {
        EXPECT_EQ(all[i].card, static_cast<int>(i) - 1);
        EXPECT_EQ(all[i].device, 0);
        EXPECT_TRUE(all[i].efa_only);
    }
    EXPECT_EQ(all.back().card, 31);
}

TEST(NetworkInterfaces, FirstCardOfP6B300HasNoEfa) {
    const auto all = of("p6-b300.48xlarge");  // 17 cards, 16 EFA
    ASSERT_EQ(all.size(), 17U);
    EXPECT_EQ(all[1].card, 1);
    EXPECT_EQ(all[1].device, 0);
    EXPECT_EQ(all.back().card, 16);
}

TEST(NetworkInterfaces, OneCardCarriesBoth) {
    const auto all = of("g5.48xlarge");
    ASSERT_EQ(all.size(), 2U);
    EXPECT_EQ(all[1].card, 0);
    EXPECT_EQ(all[1].device, 1);
}

TEST(NetworkInterfaces, OneOnlyWithoutEfa) {
    EXPECT_EQ(of("g5.2xlarge").size(), 1U);
    const auto r = test_recipe("p5.48xlarge", 1, Purchase::on_demand);
    EXPECT_EQ(network_interfaces(r.instance, false).size(), 1U);
}

TEST(NetworkInterfaces, EveryTypeHasOnePrimaryAndItsEfas) {
    const auto catalog = catalog::Catalog::load(catalog::Catalog::embedded_tables());
    ASSERT_TRUE(catalog.has_value());
    for (const catalog::Instance& i : catalog->instances()) {
        const auto all = network_interfaces(i, true);
        const auto efas = std::count_if(all.begin(), all.end(), [](auto n) { return n.efa_only; });
        EXPECT_EQ(efas, i.efa_interfaces) << i.type;
        EXPECT_EQ(all.size(), static_cast<std::size_t>(efas) + 1) << i.type;
    }
}

}  // namespace
}  // namespace trainyard::render
