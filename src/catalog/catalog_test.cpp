#include "trainyard/catalog/catalog.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <set>
#include <sstream>

#include "trainyard/base/text.hpp"
#include "trainyard/doc/csv.hpp"
#include "trainyard/doc/node.hpp"

namespace trainyard::catalog {
namespace {

const Catalog& embedded() {
    static const Catalog catalog = [] {
        auto loaded = Catalog::load({});
        if (!loaded) ADD_FAILURE() << format(loaded.error().diagnostics);
        return loaded ? *loaded : Catalog{};
    }();
    return catalog;
}

double usd_per_hour(const std::optional<Price>& p) { return p ? p->rate / kUsdPerHour : -1; }

TEST(EmbeddedTables, load_without_a_single_diagnostic) {
    const auto loaded = Catalog::load({});
    ASSERT_TRUE(loaded.has_value()) << format(loaded.error().diagnostics);
    EXPECT_GT(loaded->accelerators().size(), 35u);
    EXPECT_GT(loaded->instances().size(), 200u);
    EXPECT_GT(loaded->prices().size(), 1500u);
}

// data/catalog facts against AWS's own pages: p5 is 32 cards of 100 Gbit/s
// (docs.aws.amazon.com/AWSEC2/latest/UserGuide/efa-acc-inst-types.html).
TEST(KnownFacts, efa_cards_and_network) {
    struct Row {
        const char* type;
        int interfaces;
        double gbit;
        int generation;
    };
    for (const Row& r : {Row{"p5.48xlarge", 32, 3200, 2}, Row{"p4d.24xlarge", 4, 400, 1},
                         Row{"p5en.48xlarge", 16, 3200, 3}, Row{"p3dn.24xlarge", 1, 100, 1},
                         Row{"p6-b200.48xlarge", 8, 3200, 4}, Row{"p6-b300.48xlarge", 16, 6400, 4},
                         Row{"trn1.32xlarge", 8, 800, 2}, Row{"trn1n.32xlarge", 16, 1600, 2},
                         Row{"trn2.48xlarge", 16, 3200, 3}, Row{"g6e.48xlarge", 4, 400, 2}}) {
        const Instance* i = embedded().instance(r.type);
        ASSERT_NE(i, nullptr) << r.type;
        EXPECT_EQ(i->efa, Yes::yes) << r.type;
        EXPECT_EQ(i->efa_interfaces, r.interfaces) << r.type;
        ASSERT_TRUE(i->network.has_value()) << r.type;
        EXPECT_DOUBLE_EQ(*i->network / kGbitPerSecond, r.gbit) << r.type;
        EXPECT_EQ(i->efa_generation, r.generation) << r.type;
    }
    EXPECT_EQ(embedded().instance("p3.16xlarge")->efa, Yes::no);  // only p3dn has EFA
    EXPECT_EQ(embedded().instance("p5.4xlarge")->gpudirect_rdma, Yes::no);
}

// As of 2026-07-20: github.com/aws/karpenter-provider-aws/blob/6fc13b5/pkg/providers/pricing/
// zz_generated.pricing_aws.go
TEST(KnownFacts, list_prices_of_us_east_1) {
    const auto on_demand = [](const char* type) {
        return usd_per_hour(embedded().price(type, PurchaseType::on_demand, "us-east-1"));
    };
    EXPECT_DOUBLE_EQ(on_demand("p5.48xlarge"), 55.04);
    EXPECT_DOUBLE_EQ(on_demand("p4d.24xlarge"), 21.957642);
    EXPECT_DOUBLE_EQ(on_demand("trn1.32xlarge"), 21.5);
    EXPECT_DOUBLE_EQ(on_demand("trn1.2xlarge"), 1.34375);
    EXPECT_DOUBLE_EQ(on_demand("g4dn.12xlarge"), 3.912);
    EXPECT_DOUBLE_EQ(on_demand("p3.2xlarge"), 3.06);
}

TEST(KnownFacts, v100_and_a100_come_in_two_sizes) {
    EXPECT_EQ(embedded().instance("p3.16xlarge")->accelerator, "V100-16");
    EXPECT_EQ(embedded().instance("p3dn.24xlarge")->accelerator, "V100-32");
    EXPECT_EQ(embedded().instance("p4d.24xlarge")->accelerator, "A100-40");
    EXPECT_EQ(embedded().instance("p4de.24xlarge")->accelerator, "A100-80");
    EXPECT_FALSE(embedded()
                     .accelerator("V100-16")
                     ->peak_for(Precision::bf16)
                     .has_value());  // tensor cores: FP16 only
}

TEST(Accelerators, aliases_find_the_same_row) {
    EXPECT_EQ(embedded().accelerator("H100"), embedded().accelerator("H100-80"));
    EXPECT_EQ(embedded().accelerator("A10G"), embedded().accelerator("A10G-24"));
    EXPECT_EQ(embedded().accelerator("Trainium1"), embedded().accelerator("Trn1"));
    EXPECT_EQ(embedded().accelerator("H1000"), nullptr);
}

TEST(Accelerators, usable_memory_is_below_nominal_and_achievable_below_peak) {
    for (const Accelerator& a : embedded().accelerators()) {
        EXPECT_GT(a.memory / kGiB, 7) << a.id;
        if (a.achievable_bf16 && a.peak_for(Precision::bf16)) {
            EXPECT_LT(a.achievable_bf16->base(), a.peak_for(Precision::bf16)->base()) << a.id;
        }
        if (a.peak_for(Precision::fp8) && a.peak_for(Precision::bf16)) {
            EXPECT_GE(a.peak_for(Precision::fp8)->base(), a.peak_for(Precision::bf16)->base())
                << a.id;
        }
    }
}

TEST(Instances, every_accelerator_resolves_to_an_id) {
    int accelerated = 0;
    for (const Instance& i : embedded().instances()) {
        if (i.accelerator.empty()) continue;
        ++accelerated;
        const Accelerator* a = embedded().accelerator(i.accelerator);
        ASSERT_NE(a, nullptr) << i.type;
        EXPECT_EQ(a->id, i.accelerator) << i.type;
    }
    EXPECT_GE(accelerated, 90);
}

TEST(Instances, every_accelerated_family_is_there) {
    std::set<std::string> families;
    for (const Instance& i : embedded().instances()) families.insert(i.family);
    for (const char* f :
         {"p2",      "p3",        "p3dn", "p4d",  "p4de",  "p5",   "p5e",   "p5en", "p6-b200",
          "p6-b300", "p6e-gb200", "g4dn", "g4ad", "g5",    "g5g",  "g6",    "gr6",  "g6f",
          "g6e",     "g7",        "g7e",  "trn1", "trn1n", "trn2", "trn2u", "trn3", "inf1",
          "inf2",    "dl1",       "dl2q", "c6i",  "m7i",   "hpc7a"}) {
        EXPECT_TRUE(families.count(f)) << f;
    }
}

TEST(Prices, every_aws_item_is_an_instance_and_every_row_has_a_date) {
    for (const Price& p : embedded().prices()) {
        if (p.provider == "AWS") {
            EXPECT_NE(embedded().instance(p.item), nullptr) << p.item;
        }
        EXPECT_FALSE(p.provenance.source.empty()) << p.item;
        EXPECT_TRUE(age_in_days(p.provenance.as_of, "2026-12-01").has_value()) << p.item;
        EXPECT_EQ(p.provenance.source.find("index id"), std::string::npos) << p.item;
    }
}

// Two snapshots of p4d spot in us-east-1: 2025-11-30 (average 8.59) and zone samples of 2026; the
// newer set wins, and in it the cheapest zone.
TEST(Prices, the_newest_snapshot_wins_and_bounds_never_do) {
    const auto spot = embedded().price("p4d.24xlarge", PurchaseType::spot, "us-east-1");
    ASSERT_TRUE(spot.has_value());
    EXPECT_EQ(spot->provenance.as_of, "2026");
    EXPECT_EQ(spot->detail, "zone sample");
    EXPECT_FALSE(
        embedded().price("p5.48xlarge", PurchaseType::on_demand, "atlantis-1").has_value());
}

TEST(Services, the_keys_that_the_bill_uses) {
    EXPECT_DOUBLE_EQ(embedded().service("s3.standard.gb_month", "us-east-1")->value, 0.023);
    EXPECT_DOUBLE_EQ(embedded().service("ebs.gp3.gb_month", "us-east-1")->value, 0.08);
    EXPECT_DOUBLE_EQ(embedded().service("eks.control_plane.hour", "us-east-1")->value, 0.10);
    EXPECT_DOUBLE_EQ(embedded().service("nat.hour", "us-east-1")->value, 0.045);
    EXPECT_DOUBLE_EQ(embedded().service("sagemaker.uplift.p", "us-west-2")->value, 1.15);
}

TEST(InterruptionBands, the_newest_advisor_snapshot) {
    const auto band = embedded().interruption("p4d.24xlarge",
                                              "us-east-1");  // 2025-06: 10-15 %, 2025-11: over 20 %
    ASSERT_TRUE(band.has_value());
    EXPECT_EQ(band->provenance.as_of, "2025-11-30");
    EXPECT_DOUBLE_EQ(band->low_per_month, 0.20);
}

TEST(Dates, days_between_iso_dates) {
    EXPECT_EQ(age_in_days("2026-11-30", "2026-12-01"), 1);
    EXPECT_EQ(age_in_days("2024-02-28", "2024-03-01"), 2);  // leap year
    EXPECT_EQ(age_in_days("2026-07", "2026-07-31"), 30);
    EXPECT_EQ(age_in_days("2025", "2026"), 365);
    for (const char* bad :
         {"2026-13", "2026-02-30", "26-01-01", "2026/01/01", "", "2026-1-1", "about 2026"}) {
        EXPECT_FALSE(age_in_days(bad, "2026-12-01").has_value()) << bad;
    }
}

std::string read_text(const char* path) {
    std::ifstream in(path);
    std::stringstream text;
    text << in.rdbuf();
    return text.str();
}

bool documents(const std::string& page, const std::string& word) {
    return page.find("`" + word + "`") != std::string::npos;
}

TEST(ReferencePage, names_every_column_of_every_table) {
    const std::string page = read_text("docs/reference/catalog.md");
    ASSERT_FALSE(page.empty()) << "run from the repository root";
    for (const auto& [name, text] : Catalog::embedded_tables()) {
        EXPECT_TRUE(documents(page, name) || page.find(name) != std::string::npos) << name;
        const auto table = doc::parse_csv(text, name);
        ASSERT_TRUE(table.has_value());
        for (const std::string& column : table->header())
            EXPECT_TRUE(documents(page, column)) << name << ": " << column;
    }
}

void expect_documented(const std::string& page, const doc::Node& node) {
    for (const auto& [key, value] : node.members()) {
        EXPECT_TRUE(documents(page, key)) << key;
        expect_documented(page, value);
    }
    for (const doc::Node& item : node.items()) expect_documented(page, item);
}

TEST(ReferencePage, names_every_key_of_the_printed_json) {
    const std::string page = read_text("docs/reference/catalog.md");
    for (const char* golden :
         {"tests/golden/catalog/p5-json/stdout", "tests/golden/catalog/accelerator-json/stdout",
          "tests/golden/catalog/prices-json/stdout", "tests/golden/decode/json/stdout"}) {
        const auto json = doc::parse_json(read_text(golden), golden);
        ASSERT_TRUE(json.has_value()) << golden;
        expect_documented(page, *json);
    }
}

// Every accelerator that a published run names can be looked up, so that validation can predict it.
TEST(PublishedRuns, every_accelerator_is_known) {
    const std::string text = read_text("../shared/data/runs_open.csv");
    if (text.empty()) GTEST_SKIP() << "../shared/data/runs_open.csv is not here";
    const auto table = doc::parse_csv(text, "runs_open.csv");
    ASSERT_TRUE(table.has_value());
    std::set<std::string> names;
    for (std::size_t r = 0; r < table->size(); ++r) names.emplace(table->cell(r, "accelerator"));
    for (const std::string& name : names) EXPECT_NE(embedded().accelerator(name), nullptr) << name;
}

}  // namespace
}  // namespace trainyard::catalog
