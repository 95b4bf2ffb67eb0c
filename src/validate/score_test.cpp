#include "trainyard/validate/score.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <deque>

#include "test_runs.hpp"
#include "trainyard/doc/node.hpp"
#include "trainyard/perf/constants.hpp"

namespace trainyard::validate {
namespace {

/// Rows with a given measured and predicted step, one token a device and second each.
class Rows {
  public:
    void add(const char* group, double measured, double predicted,
             const char* accelerator = "A100-80") {
        Observation o;
        o.id = "r" + std::to_string(runs_.size());
        o.group = group;
        o.accelerator = accelerator;
        o.tier = "1";
        o.stack = "tuned";
        o.training.sequence = o.training.global_batch = 1;
        o.training.parallel.data =
            static_cast<int>(runs_.size()) + 1;  // a configuration of its own
        o.cluster.accelerators = 1;
        o.step = measured * kSecond;
        runs_.push_back(o);
        Scored s;
        s.run = &runs_.back();
        s.predicted_step = predicted * kSecond;
        s.predicted_memory = 1 * kGB;
        s.error = predicted / measured - 1;
        scored_.push_back(s);
    }
    std::vector<const Scored*> pointers() const {
        std::vector<const Scored*> p;
        for (const Scored& s : scored_) p.push_back(&s);
        return p;
    }
    std::vector<Scored> values() const { return {scored_.begin(), scored_.end()}; }
    Observation& run(std::size_t i) { return runs_[i]; }

  private:
    std::deque<Observation> runs_;  // stable addresses
    std::deque<Scored> scored_;
};

TEST(Summary, MedianNinetiethPercentileAndBias) {
    Rows rows;
    // Errors -10 %, 0, +10 %, +20 %, +50 %.
    for (const double predicted : {0.9, 1.0, 1.1, 1.2, 1.5}) rows.add("g", 1, predicted);
    const ErrorSummary s = summarise(rows.pointers());
    EXPECT_EQ(s.n, 5);
    EXPECT_NEAR(s.median, 0.1, 1e-12);  // absolute: 0, 10, 10, 20, 50
    // Position 0.9 * 4 = 3.6 between 20 and 50 %: 20 + 0.6 * 30 = 38 %.
    EXPECT_NEAR(s.p90, 0.38, 1e-12);
    EXPECT_NEAR(s.bias, 0.1, 1e-12);
    EXPECT_EQ(summarise({}).n, 0);
}

TEST(Summary, CoverageCountsRowsInsideTheirOwnBand) {
    const perf::ErrorBand band = perf::error_band("A100-80");
    Rows rows;
    rows.add("g", 1, 1 / band.low * 1.001);   // measured just below the band
    rows.add("g", 1, 1 / band.low * 0.999);   // just inside
    rows.add("g", 1, 1 / band.high * 1.001);  // just inside
    rows.add("g", 1, 1 / band.high * 0.999);  // just above
    EXPECT_NEAR(summarise(rows.pointers()).covered, 0.5, 1e-12);
}

TEST(Summary, EveryGroupWeighsOne) {
    Rows rows;
    for (int i = 0; i < 100; ++i) rows.add("sweep", 1, 1.5);
    rows.add("alone", 1, 1.1);
    const ErrorSummary s = summarise_by_group(rows.pointers());
    EXPECT_EQ(s.n, 2);
    EXPECT_NEAR(s.median, 0.3, 1e-12);  // between 10 and 50 %
}

TEST(Ranking, ThreeRowsByHand) {
    Rows rows;
    // Measured 1.0, 1.5, 2.0; predicted 1.2, 1.1, 2.0. Pairs: (1, 1.5) wrong, the other two right.
    rows.add("g", 1.0, 1.2);
    rows.add("g", 1.5, 1.1);
    rows.add("g", 2.0, 2.0);
    const Ranking r = rank_groups(rows.pointers());
    EXPECT_EQ(r.groups, 1);
    EXPECT_EQ(r.pairs, 3);
    EXPECT_EQ(r.ordered, 2);
    // We would choose the second: 1.5 s against the best 1.0 s.
    EXPECT_NEAR(r.worst_regret, 0.5, 1e-12);
    EXPECT_NEAR(r.mean_regret, 0.5, 1e-12);
}

TEST(Ranking, PairsWithinThreePercentDoNotCount) {
    Rows rows;
    rows.add("g", 1.00, 2);
    rows.add("g", 1.02, 1);
    EXPECT_EQ(rank_groups(rows.pointers()).pairs, 0);
}

TEST(Ranking, RepeatsOfOneConfigurationAreOneAlternative) {
    Rows rows;
    // The first three rows are one configuration measured thrice, median 1.0; the fourth is
    // another.
    rows.add("g", 0.9, 1.0);
    rows.add("g", 1.0, 1.0);
    rows.add("g", 3.0, 1.0);
    rows.add("g", 2.0, 2.0);
    rows.run(1).training = rows.run(2).training = rows.run(0).training;
    const Ranking r = rank_groups(rows.pointers());
    EXPECT_EQ(r.pairs, 1);
    EXPECT_EQ(r.ordered, 1);
    EXPECT_NEAR(r.worst_regret, 0, 1e-12);
}

TEST(Ranking, OtherClustersAndBatchesAreOtherChoices) {
    Rows rows;
    rows.add("g", 1.0, 1.0);
    rows.add("g", 2.0, 2.0);
    rows.add("g", 3.0, 3.0);
    rows.run(1).cluster.accelerators = 8;
    rows.run(2).training.global_batch = 2;
    EXPECT_EQ(rank_groups(rows.pointers()).groups, 0);
}

TEST(Ranking, GroupsOfOneAreNoChoice) {
    Rows rows;
    rows.add("a", 1, 1);
    rows.add("b", 2, 2);
    EXPECT_EQ(rank_groups(rows.pointers()).groups, 0);
}

TEST(Score, ErrorIsPredictedOverMeasuredLessOne) {
    std::vector<Observation> runs = {test::observed(test::complete())};
    const Scored first = score(runs, perf::default_constants())[0];
    // Measured at half the prediction: +100 %.
    runs[0].step = *first.predicted_step / 2;
    EXPECT_NEAR(*score(runs, perf::default_constants())[0].error, 1, 1e-12);
    // The constants are the caller's.
    perf::Constants slow = perf::default_constants();
    slow.global.step_overhead_ms += 1e6;
    EXPECT_GT(*score(runs, slow)[0].error, 100);
}

TEST(Score, MemoryIsNotComparedWhereRecomputeIsAGuess) {
    const std::vector<Observation> runs = {
        test::observed(test::with({{"measured_peak_mem_gb", "40"}})),
        test::observed(test::with({{"measured_peak_mem_gb", "40"}, {"recompute", ""}}))};
    const std::vector<Scored> s = score(runs, perf::default_constants());
    EXPECT_NEAR(*s[0].memory_error, *s[0].predicted_memory / (40 * kGB) - 1, 1e-12);
    EXPECT_FALSE(s[1].memory_error);
}

TEST(Report, JsonCarriesEveryRowOnce) {
    const std::vector<Observation> runs = {
        test::observed(test::with({{"measured_peak_mem_gb", "40"}})),
        test::observed(test::with({{"id", "row-2"}, {"layers", ""}})),
        test::observed(test::with(
            {{"id", "row-3"}, {"measured_step_s", ""}, {"measured_tokens_per_s_per_accel", "9"}}))};
    const doc::Node root = render_json(score(runs, perf::default_constants()));
    EXPECT_EQ(root.find("schema")->text(), "trainyard.validation");
    EXPECT_EQ(root.find("schema_version")->as_integer(), 1);
    const std::vector<doc::Node>& rows = root.find("rows")->items();
    ASSERT_EQ(rows.size(), 3U);
    EXPECT_EQ(rows[0].find("id")->text(), "row-1");
    EXPECT_EQ(rows[0].find("quantity")->text(), "step time");
    EXPECT_EQ(rows[0].find("measured")->as_number(), 2.0);
    EXPECT_NEAR(rows[0].find("error")->as_number(),
                rows[0].find("predicted")->as_number() / 2.0 - 1, 1e-12);
    EXPECT_EQ(rows[0].find("memory")->find("measured_bytes")->as_number(), 40e9);
    EXPECT_GT(rows[0].find("memory")->find("predicted_bytes")->as_number(), 1e9);
    EXPECT_TRUE(rows[0].find("memory")->find("fits")->as_bool());
    EXPECT_EQ(rows[0].find("skipped"), nullptr);
    EXPECT_EQ(rows[1].find("skipped")->text(), "the model's shape is not stated");
    EXPECT_EQ(rows[1].find("error"), nullptr);
    EXPECT_EQ(rows[2].find("quantity")->text(), "tokens/s");
    EXPECT_TRUE(rows[2].find("memory")->find("measured_bytes")->is(doc::Node::Kind::null));
    const doc::Node* tuned = root.find("summary")->find("tier 1 tuned");
    ASSERT_NE(tuned, nullptr);
    EXPECT_EQ(tuned->find("n")->as_integer(), 2);
}

TEST(Report, TextNamesTheWorstRowAndWhatWasSkipped) {
    const std::vector<Observation> runs = {
        test::observed(test::complete()),
        test::observed(test::with({{"id", "the-worst"}, {"measured_step_s", "0.001"}})),
        test::observed(test::with({{"layers", ""}}))};
    const std::string text = render_text(score(runs, perf::default_constants()));
    const auto worst = text.find("Worst rows");
    ASSERT_NE(worst, std::string::npos);
    EXPECT_LT(text.find("the-worst", worst), text.find("row-1", worst));
    EXPECT_NE(text.find("Not predicted: 1 of 3 rows"), std::string::npos);
    EXPECT_NE(text.find("the model's shape is not stated"), std::string::npos);
}

TEST(Report, NoRowsIsNotACrash) {
    EXPECT_NE(render_text({}).find("Not predicted: 0 of 0 rows"), std::string::npos);
    EXPECT_EQ(render_json({}).find("rows")->items().size(), 0U);
}

TEST(Report, RepeatsShowWhatNoModelCanTellApart) {
    // One configuration, 2.0 s and 3.0 s: half as much again.
    const auto runs =
        *read_runs(test::table_of({test::with({{"id", "a"}}),
                                   test::with({{"id", "b"}, {"measured_step_s", "3.0"}})}),
                   test::embedded_catalog());
    const std::string text = render_text(score(runs, perf::default_constants()));
    EXPECT_NE(text.find("Repeats: 2 rows are 1 configurations"), std::string::npos);
    EXPECT_NE(text.find("50.0 % at worst"), std::string::npos);
}

}  // namespace
}  // namespace trainyard::validate
