// A malformed row is refused with its line; no row is dropped.

#include <gtest/gtest.h>

#include "trainyard/catalog/catalog.hpp"

namespace trainyard::catalog {
namespace {

constexpr const char* kPriceHeader =
    "provider,item,accelerator,region,purchase,usd_per_hour,as_of,status,source\n";
constexpr const char* kGoodPrice =
    "AWS,p5.48xlarge,H100-80,us-east-1,on_demand,55.04,2026-07-20,vendor_list,list\n";

/// The diagnostics of a price table whose third line is `row`.
std::vector<Diagnostic> price_problems(const std::string& row) {
    const auto loaded =
        Catalog::load({{"prices.csv", std::string(kPriceHeader) + kGoodPrice + row + "\n"}});
    return loaded ? std::vector<Diagnostic>{} : loaded.error().diagnostics;
}

void expect_one(const std::vector<Diagnostic>& all, const std::string& part) {
    ASSERT_EQ(all.size(), 1u) << format(all);
    EXPECT_EQ(all[0].where.file, "prices.csv");
    EXPECT_EQ(all[0].where.line, 3);
    EXPECT_NE(all[0].what.find(part), std::string::npos) << format(all);
}

TEST(PriceRows, a_good_row_loads) {
    EXPECT_TRUE(price_problems("AWS,p5.48xlarge,,us-east-2,spot,20,2026,vendor_list,x").empty());
}

TEST(PriceRows, bad_numbers_are_refused) {
    for (const char* bad : {"-1", "0", "nan", "inf", "1e999", "12abc", "0x10"}) {
        expect_one(price_problems(std::string("AWS,p5.48xlarge,,us-east-2,spot,") + bad +
                                  ",2026,vendor_list,x"),
                   "usd_per_hour");
    }
    expect_one(price_problems("AWS,p5.48xlarge,,us-east-2,spot,,2026,vendor_list,x"),
               "usd_per_hour is empty");
}

TEST(PriceRows, unknown_references_are_refused_with_the_nearest) {
    const auto accelerator =
        price_problems("AWS,p5.48xlarge,H100-8O,us-east-2,spot,20,2026,vendor_list,x");
    expect_one(accelerator, "H100-8O");
    EXPECT_NE(accelerator[0].fix.find("H100-80"), std::string::npos);
    const auto item = price_problems("AWS,p5.48xlarg,,us-east-2,spot,20,2026,vendor_list,x");
    expect_one(item, "p5.48xlarg");
    EXPECT_NE(item[0].fix.find("p5.48xlarge"), std::string::npos);
}

TEST(PriceRows, source_date_and_status_are_required) {
    expect_one(price_problems("AWS,p5.48xlarge,,us-east-2,spot,20,2026,vendor_list,"),
               "source is empty");
    expect_one(price_problems("AWS,p5.48xlarge,,us-east-2,spot,20,,vendor_list,x"),
               "as_of is empty");
    expect_one(price_problems("AWS,p5.48xlarge,,us-east-2,spot,20,about 2026,vendor_list,x"),
               "as_of");
    expect_one(price_problems("AWS,p5.48xlarge,,us-east-2,spot,20,2026,heard_it,x"), "status");
    expect_one(price_problems("AWS,p5.48xlarge,,us-east-2,spot,20,2026,vendor_list,no-such-source"),
               "sources.csv");
}

TEST(PriceRows, duplicates_and_unknown_purchases_are_refused) {
    expect_one(price_problems("AWS,p5.48xlarge,,us-east-1,on_demand,1,2026-07-20,vendor_list,x"),
               "second price");
    expect_one(price_problems("AWS,p5.48xlarge,,us-east-2,on-demand,1,2026-07-20,vendor_list,x"),
               "purchase");
}

TEST(Tables, every_mistake_is_collected) {
    EXPECT_EQ(price_problems("AWS,p9.48xlarge,XYZ,,nothing,-1,never,who,").size(), 8u);
}

TEST(Tables, a_missing_or_misspelled_column_is_named) {
    const auto loaded = Catalog::load(
        {{"prices.csv", "provider,item,region,purchase,usd_per_hours,as_of,status,source\n"}});
    ASSERT_FALSE(loaded.has_value());
    ASSERT_EQ(loaded.error().diagnostics.size(), 2u);
    EXPECT_NE(loaded.error().diagnostics[1].fix.find("usd_per_hour"), std::string::npos);
    EXPECT_EQ(loaded.error().kind, ErrorKind::bad_input);
}

TEST(Tables, an_instance_of_an_unknown_accelerator_is_refused) {
    const auto loaded = Catalog::load(
        {{"instances.csv",
          "type,family,vcpu,memory_gib,accelerator,accelerators,retired,status,as_of,source\n"
          "p9.48xlarge,p9,192,2048,X900,8,no,vendor_list,2026,x\n"},
         {"prices.csv", kPriceHeader},
         {"spot_interruption.csv",
          "instance,region,low_per_month,high_per_month,as_of,status,source\n"}});
    ASSERT_FALSE(loaded.has_value());
    EXPECT_EQ(loaded.error().diagnostics[0].where.line, 2);
    EXPECT_NE(loaded.error().diagnostics[0].what.find("X900"), std::string::npos);
}

TEST(Tables, a_replaced_table_is_used) {
    const auto loaded = Catalog::load({{"prices.csv", std::string(kPriceHeader) + kGoodPrice}});
    ASSERT_TRUE(loaded.has_value()) << format(loaded.error().diagnostics);
    EXPECT_EQ(loaded->prices().size(), 1u);
    EXPECT_GT(loaded->instances().size(), 200u);
}

TEST(Tables, text_that_is_no_table_is_refused) {
    for (const char* bad : {"", "\xff\xfe", "a,a\n1,2\n", "a,\"b\n"}) {
        EXPECT_FALSE(Catalog::load({{"prices.csv", bad}}).has_value());
    }
}

}  // namespace
}  // namespace trainyard::catalog
