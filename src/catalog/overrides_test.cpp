#include <gtest/gtest.h>

#include "trainyard/catalog/catalog.hpp"

namespace trainyard::catalog {
namespace {

Catalog fresh() { return *Catalog::load({}); }

double on_demand(const Catalog& c, const char* type) {
    return c.price(type, PurchaseType::on_demand, "us-east-1")->rate / kUsdPerHour;
}

TEST(Overrides, a_price_replaces_the_listed_one) {
    Catalog c = fresh();
    const auto applied = c.apply_price_overrides(
        "item,region,price_type,usd_per_hour,as_of,source\np5.48xlarge,us-east-1,on_demand,30,2026-"
        "11-01,contract\n",
        "my.csv");
    ASSERT_TRUE(applied.has_value()) << format(applied.error().diagnostics);
    EXPECT_EQ(*applied, 1);
    EXPECT_DOUBLE_EQ(on_demand(c, "p5.48xlarge"), 30);
    EXPECT_EQ(c.price("p5.48xlarge", PurchaseType::on_demand, "us-east-1")->provenance.source,
              "contract");
    EXPECT_DOUBLE_EQ(on_demand(c, "p4d.24xlarge"), 21.957642);
}

TEST(Overrides, a_family_discount_multiplies_what_is_there) {
    Catalog c = fresh();
    const auto applied = c.apply_price_overrides(
        "item,region,price_type,discount\np5,*,on_demand,10 "
        "%\np4d.24xlarge,us-east-1,on_demand,0.5\n",
        "d.csv");
    ASSERT_TRUE(applied.has_value()) << format(applied.error().diagnostics);
    EXPECT_NEAR(on_demand(c, "p5.48xlarge"), 0.9 * 55.04, 1e-9);
    EXPECT_NEAR(on_demand(c, "p4d.24xlarge"), 21.957642 / 2, 1e-9);
    EXPECT_DOUBLE_EQ(on_demand(c, "p5en.48xlarge"), on_demand(fresh(), "p5en.48xlarge"));
}

TEST(Overrides, bad_rows_change_nothing_and_name_their_line) {
    for (const char* row :
         {"p5.48xlarge,us-east-1,on_demand,-3,", "p5.48xlarge,us-east-1,on_demand,nan,",
          "p5.48xlarge,us-east-1,on_demand,,", "p5.48xlarge,us-east-1,ondemand,3,",
          "p5.48xlarges,us-east-1,on_demand,3,", "p5,us-east-1,on_demand,3,",
          "p5.48xlarge,,on_demand,3,", "p5.48xlarge,us-east-1,on_demand,3,0.1",
          "p5.48xlarge,us-east-1,on_demand,,1.5", "p5.48xlarge,*,on_demand,3,",
          "p5.48xlarge,atlantis,on_demand,,0.1"}) {
        Catalog c = fresh();
        const auto applied = c.apply_price_overrides(
            std::string("item,region,price_type,usd_per_hour,discount\n") + row + "\n", "my.csv");
        ASSERT_FALSE(applied.has_value()) << row;
        EXPECT_EQ(applied.error().kind, ErrorKind::bad_input);
        EXPECT_EQ(applied.error().diagnostics[0].where.line, 2) << row;
        EXPECT_EQ(applied.error().diagnostics[0].where.file, "my.csv");
        EXPECT_DOUBLE_EQ(on_demand(c, "p5.48xlarge"), 55.04) << row;
    }
}

}  // namespace
}  // namespace trainyard::catalog
