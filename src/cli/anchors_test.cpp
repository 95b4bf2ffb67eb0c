#include <gtest/gtest.h>

#include <cmath>
#include <sstream>

#include "anchors_report.hpp"
#include "table.hpp"
#include "trainyard/base/text.hpp"

namespace trainyard::cli {
namespace {

const catalog::Catalog& the_catalog() {
    static const catalog::Catalog loaded = [] {
        auto c = catalog::Catalog::load(catalog::Catalog::embedded_tables());
        EXPECT_TRUE(c.has_value());
        return std::move(*c);
    }();
    return loaded;
}

const std::vector<AnchorResult>& results() {
    static const std::vector<AnchorResult> all = [] {
        auto r = compute_all(guide_anchors(), the_catalog());
        EXPECT_TRUE(r.has_value());
        return std::move(*r);
    }();
    return all;
}

const AnchorResult& result(const std::string& id) {
    for (const AnchorResult& r : results()) {
        if (r.anchor->id == id) return r;
    }
    ADD_FAILURE() << "no anchor " << id;
    return results().front();
}

Scenario small_scenario() {
    Scenario s;
    s.name = "test";
    s.sequences = 64;
    s.base_instance = s.instance = "p4d.24xlarge";
    s.base_devices = 8;
    s.devices = 16;
    s.stack = "tuned";
    return s;
}

Anchor small_anchor() {
    Anchor a;
    a.id = "test";
    a.claimed_efficiency = 0.5;
    a.model = "gpt-300m";
    a.sequence = 1024;
    return a;
}

TEST(AnchorsTable, HoldsEveryClaimOfTheGuide) {
    std::map<std::string, double> claims;
    for (const Anchor& a : guide_anchors()) claims[a.id] = a.claimed();
    EXPECT_EQ(claims.size(), 6U);
    EXPECT_EQ(claims.at("300m-16-a100"), 1.3);
    EXPECT_EQ(claims.at("13b-16-a100"), 0.85);
    EXPECT_EQ(claims.at("70b-32-h100"), 0.92);
    EXPECT_EQ(claims.at("13b-8-nodes-efa"), 0.88);
    EXPECT_EQ(claims.at("13b-8-nodes-tcp"), 0.23);
    EXPECT_NEAR(claims.at("70b-hours"), 24 / 6.5, 0.001);
}

TEST(AnchorsTable, RefusesUnknownWordsAndAnchors) {
    const std::string claims =
        "id,guide_line,claim,measure,claimed_efficiency,claimed_speedup,claimed_hours,model,"
        "sequence,assumed\n"
        "a,1,c,efficiency,0.5,,,gpt-300m,1024,x\n";
    const std::string head =
        "anchor,name,scaling,sequences,base_instance,base_devices,instance,devices,wire,stack,"
        "mappings\n";
    const std::string good = head + "a,n,strong,64,p4d.24xlarge,8,p4d.24xlarge,16,efa,tuned,best\n";
    const std::string facts = "anchor,fact,source,as_of,status\na,none,,2026-12-01,\n";
    EXPECT_TRUE(
        parse_anchors({{"anchors.csv", claims}, {"scenarios.csv", good}, {"facts.csv", facts}}));
    const auto bad =
        parse_anchors({{"anchors.csv", claims},
                       {"scenarios.csv", good + "b,n,sideways,-3,p,8,p,16,efa,tuned,best\n"},
                       {"facts.csv", facts}});
    ASSERT_FALSE(bad);
    ASSERT_EQ(bad.error().diagnostics.size(), 1U);
    EXPECT_EQ(bad.error().diagnostics[0].where.line, 3);
    const auto words =
        parse_anchors({{"anchors.csv", claims},
                       {"scenarios.csv", head + "a,n,sideways,-3,p,8,p,16,efa,tuned,best\n"},
                       {"facts.csv", facts}});
    ASSERT_FALSE(words);
    EXPECT_GE(words.error().diagnostics.size(), 2U);
    EXPECT_FALSE(
        parse_anchors({{"anchors.csv", claims}, {"scenarios.csv", head}, {"facts.csv", facts}}));
}

TEST(AnchorsMappings, AreLegalAndUseEveryDevice) {
    const auto model = workload::find_model("llama-2-13b");
    ASSERT_TRUE(model);
    const auto all = stated_mappings(*model, 4096, small_scenario(), 16, 8);
    EXPECT_GT(all.size(), 100U);
    for (const workload::Training& t : all) {
        EXPECT_EQ(t.parallel.devices(), 16);
        EXPECT_EQ(t.global_batch, 64);
        EXPECT_TRUE(workload::is_legal_mapping(*model, t));
    }
    Scenario sharded = small_scenario();
    sharded.mappings = MappingSet::sharded;
    for (const workload::Training& t : stated_mappings(*model, 4096, sharded, 16, 8)) {
        EXPECT_EQ(t.parallel.data, 16);
    }
}

TEST(AnchorsCompute, TheBaseAgainstItselfIsOne) {
    Scenario s = small_scenario();
    s.base_devices = s.devices = 8;
    const auto r = compute(small_anchor(), s, the_catalog());
    ASSERT_TRUE(r && r->known());
    EXPECT_DOUBLE_EQ(r->efficiency, 1.0);
    EXPECT_DOUBLE_EQ(r->speedup(), 1.0);
    for (const Loss& l : r->losses) EXPECT_DOUBLE_EQ(l.share, 0.0);
}

TEST(AnchorsCompute, WeakScalingGrowsTheBatch) {
    Scenario s = small_scenario();
    s.scaling = Scaling::weak;
    s.sequences = 4;
    const auto r = compute(small_anchor(), s, the_catalog());
    ASSERT_TRUE(r && r->known());
    EXPECT_EQ(r->base->training.global_batch, 32);
    EXPECT_EQ(r->side->training.global_batch, 64);
}

/// Efficiency is the ratio of rates per device, so the losses, all over the base's device time per
/// token, sum to its inverse minus one.
TEST(AnchorsCompute, LossesSumToWhatIsMissing) {
    for (const AnchorResult& r : results()) {
        for (const ScenarioResult& s : r.scenarios) {
            if (!s.known()) continue;
            double sum = 0;
            for (const Loss& l : s.losses) sum += l.share;
            EXPECT_NEAR(sum, 1 / s.efficiency - 1, 1e-9 * (1 + std::fabs(sum)))
                << r.anchor->id << s.scenario->name;
            EXPECT_LT(s.low, s.efficiency);
            EXPECT_GT(s.high, s.efficiency);
            EXPECT_GT(s.working(), 0);
            EXPECT_LT(s.working(), 1);
        }
    }
}

TEST(AnchorsCompute, AnUnknownInstanceIsADiagnostic) {
    Scenario s = small_scenario();
    s.instance = "p99.metal";
    const auto r = compute(small_anchor(), s, the_catalog());
    ASSERT_FALSE(r);
    EXPECT_NE(r.error().diagnostics[0].what.find("p99.metal"), std::string::npos);
}

/// One card of p4d's four carries a quarter; TCP never beats EFA with the same mappings.
TEST(AnchorsCompute, TcpUsesOneCardOrAll) {
    Scenario s = small_scenario();
    s.wire = Wire::tcp_all;
    const auto all = compute(small_anchor(), s, the_catalog());
    s.wire = Wire::tcp_one;
    const auto one = compute(small_anchor(), s, the_catalog());
    s.wire = Wire::efa;
    const auto efa = compute(small_anchor(), s, the_catalog());
    ASSERT_TRUE(all && one && efa && all->known() && one->known() && efa->known());
    EXPECT_DOUBLE_EQ(all->side->cluster.inter.per_node / one->side->cluster.inter.per_node, 4.0);
    EXPECT_LT(one->efficiency, all->efficiency);
    EXPECT_LT(all->efficiency, efa->efficiency);
}

std::string joined(const AnchorResult& r) {
    std::string out;
    for (const std::string& line : explanation(r)) out += line + "\n";
    return out;
}

/// 8.6 / 8 = 107.5 %; 0.88 x 8 = 7.04; 0.23 x 8 = 1.84.
TEST(AnchorsWords, FlagTheImpossibleSpeedup) {
    EXPECT_NE(joined(result("13b-8-nodes-efa")).find("impossible on 8 nodes (108 %)"),
              std::string::npos);
    EXPECT_NE(joined(result("13b-8-nodes-efa")).find("7.04x"), std::string::npos);
    EXPECT_NE(joined(result("13b-8-nodes-tcp")).find("1.84x"), std::string::npos);
}

/// Full AdamW of 69B parameters at 16 bytes and more is over 1.1 TB; 32 A100-40 have 1.27 TB before
/// activations.
TEST(AnchorsWords, SayThatTheJobDoesNotFitOnP4d) {
    EXPECT_NE(joined(result("70b-hours")).find("does not fit on 32 devices of p4d.24xlarge"),
              std::string::npos);
}

TEST(AnchorsWords, NoteThatEfficiencyRisesBetweenTwoClaims) {
    const auto lines = contradictions(results());
    ASSERT_EQ(lines.size(), 1U);
    EXPECT_NE(lines[0].find("85 % on 16 devices (line 85) but 88 % on 64 (line 257)"),
              std::string::npos);
}

TEST(AnchorsReport, IsAtMostAHundredColumnsWide) {
    std::ostringstream out;
    std::ostringstream err;
    const Io io{out, err, "2026-12-01"};
    const std::string text = anchors_text(results(), io);
    for (const std::string_view line : split(text, '\n'))
        EXPECT_LE(display_width(line), 100U) << line;
}

TEST(AnchorsReport, JsonHasClaimComputationAndScenarios) {
    const doc::Node root = anchors_json(results());
    EXPECT_EQ(root.find("schema")->text(), "trainyard.anchors");
    const doc::Node* anchors = root.find("anchors");
    ASSERT_NE(anchors, nullptr);
    ASSERT_EQ(anchors->items().size(), guide_anchors().size());
    for (const doc::Node& a : anchors->items()) {
        EXPECT_GT(a.find("claimed")->as_number(), 0);
        EXPECT_GT(a.find("computed")->as_number(), 0);
        EXPECT_EQ(a.find("claim_status")->text(), "guide_claim");
        EXPECT_EQ(a.find("computed_status")->text(), "modelled");
        EXPECT_FALSE(a.find("explanation")->items().empty());
        EXPECT_FALSE(a.find("facts")->items().empty());
        const doc::Node& first = a.find("scenarios")->items().front();
        EXPECT_EQ(first.find("value")->as_number(), a.find("computed")->as_number());
    }
}

}  // namespace
}  // namespace trainyard::cli
