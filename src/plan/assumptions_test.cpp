#include "trainyard/plan/assumptions.hpp"

#include <gtest/gtest.h>

#include "embedded.hpp"

namespace trainyard::plan {
namespace {

TEST(Assumptions, EveryRowHasASourceAndADate) {
    const Assumptions& a = Assumptions::embedded();
    ASSERT_GT(a.rows().size(), 30U);
    for (const Assumption& row : a.rows()) {
        EXPECT_FALSE(row.provenance.source.empty()) << row.key;
        EXPECT_GE(row.provenance.as_of.size(), 4U) << row.key;
    }
}

TEST(Assumptions, BatchGrowsWithTheModel) {
    const Assumptions& a = Assumptions::embedded();
    // GPT-3, table 2.1: 0.5M tokens for small models; Llama 2: 4M for 7B to 70B; Llama 3: 16M for
    // 405B.
    EXPECT_EQ(a.batch(workload::Method::pretrain, 125e6).amount, 0.5e6);
    EXPECT_EQ(a.batch(workload::Method::pretrain, 13e9).amount, 4e6);
    EXPECT_EQ(a.batch(workload::Method::pretrain, 405e9).amount, 16e6);
    EXPECT_FALSE(a.batch(workload::Method::lora, 8e9).in_tokens);
}

TEST(Assumptions, QuotaIsTheLongestPrefix) {
    const Assumptions& a = Assumptions::embedded();
    ASSERT_NE(a.quota("p5en"), nullptr);
    EXPECT_EQ(a.quota("p5en")->spot_code, "L-C4BD4855");
    EXPECT_EQ(a.quota("p4d")->spot_code, "L-7212CCBC");
    EXPECT_EQ(a.quota("p4d")->on_demand_code, "L-417A185B");
    EXPECT_EQ(a.quota("m7i"), nullptr);
}

TEST(Assumptions, BadNumberNamesFileAndLine) {
    auto tables = embedded_files();
    tables["assumptions.csv"] =
        "key,value,unit,source,as_of,status,note\na,fast,s,x,2026,assumed,\n";
    const auto a = Assumptions::load(tables);
    ASSERT_FALSE(a.has_value());
    EXPECT_EQ(a.error().diagnostics.front().where.file, "assumptions.csv");
    EXPECT_EQ(a.error().diagnostics.front().where.line, 2);
}

}  // namespace
}  // namespace trainyard::plan
