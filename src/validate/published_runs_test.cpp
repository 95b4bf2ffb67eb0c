// The acceptance bounds on the published runs, where that collection is present beside the
// repository. They are bounds, not records: docs/validation.md has the figures.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <sstream>

#include "test_runs.hpp"
#include "trainyard/validate/score.hpp"

namespace trainyard::validate {
namespace {

constexpr const char* kRuns = "../shared/data/runs_open.csv";

class PublishedRuns : public testing::Test {
  protected:
    void SetUp() override {
        std::ifstream file(kRuns);
        if (!file) GTEST_SKIP() << kRuns << " is not here";
        std::stringstream text;
        text << file.rdbuf();
        const auto table = doc::parse_csv(text.str(), kRuns);
        ASSERT_TRUE(table);
        auto read = read_runs(*table, test::embedded_catalog());
        ASSERT_TRUE(read);
        runs_ = std::move(*read);
        scored_ = score(runs_, perf::default_constants());
    }

    template <typename Keep>
    std::vector<const Scored*> rows(Keep keep) const {
        std::vector<const Scored*> kept;
        for (const Scored& s : scored_) {
            if (keep(s)) kept.push_back(&s);
        }
        return kept;
    }
    static bool tuned(const Scored& s) { return s.run->tier == "1" && s.run->stack == "tuned"; }
    std::vector<const Scored*> tuned_rows() const {
        return rows([](const Scored& s) { return tuned(s) && s.error; });
    }

    std::vector<Observation> runs_;
    std::vector<Scored> scored_;
};

TEST_F(PublishedRuns, AlmostEveryTunedRowIsPredicted) {
    const auto all = rows([](const Scored& s) { return tuned(s); }).size();
    EXPECT_GE(static_cast<double>(tuned_rows().size()), 0.9 * static_cast<double>(all));
    for (const Scored& s : scored_) EXPECT_TRUE(s.predicted_step || !s.skipped.empty());
}

TEST_F(PublishedRuns, StepTimeError) {
    const ErrorSummary all = summarise(tuned_rows());
    EXPECT_LE(all.median, 0.08);
    EXPECT_LE(all.p90, 0.20);
    const ErrorSummary groups = summarise_by_group(tuned_rows());
    EXPECT_LE(groups.median, 0.08);
    EXPECT_LE(groups.p90, 0.20);
    // The dense sweep of one node must not carry the figure alone.
    const ErrorSummary others = summarise(rows(
        [](const Scored& s) { return tuned(s) && s.error && s.run->group != "vtrain-single"; }));
    EXPECT_LE(others.median, 0.08);
    EXPECT_NEAR(all.bias, 0, 0.03);
}

TEST_F(PublishedRuns, StockFrameworks) {
    const ErrorSummary stock = summarise(rows(
        [](const Scored& s) { return s.run->tier == "1" && s.run->stack == "stock" && s.error; }));
    EXPECT_GT(stock.n, 50);
    EXPECT_LE(stock.median, 0.20);
}

TEST_F(PublishedRuns, AlternativesComeInTheRightOrder) {
    const Ranking r = rank_groups(tuned_rows());
    ASSERT_GT(r.pairs, 1000);
    EXPECT_GE(static_cast<double>(r.ordered), 0.9 * static_cast<double>(r.pairs));
}

TEST_F(PublishedRuns, BandsCoverWhatTheySay) {
    const double covered = summarise(tuned_rows()).covered;
    EXPECT_GE(covered, 0.75);
    EXPECT_LE(covered, 0.85);
}

TEST_F(PublishedRuns, Memory) {
    std::vector<double> errors;
    int ran = 0, refused = 0;
    for (const Scored& s : scored_) {
        if (s.memory_error) errors.push_back(std::abs(*s.memory_error));
        if (!s.predicted_memory || s.run->recompute_unknown || !s.run->step) continue;
        if (s.run->ran_out_of_memory) continue;
        ++ran;
        refused += s.fits ? 0 : 1;
    }
    ASSERT_GT(errors.size(), 50U);
    std::sort(errors.begin(), errors.end());
    EXPECT_LE(errors[errors.size() / 2], 0.10);
    // Runs that ran must fit; the sources' mappings are not always complete, so a few do not.
    EXPECT_LE(refused, 0.02 * ran);
}

}  // namespace
}  // namespace trainyard::validate
