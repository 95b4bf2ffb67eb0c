// The acceptance bounds on the published runs, where that collection is present beside the
// repository. They are bounds, not records: docs/validation.md has the figures.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <sstream>

#include "test_runs.hpp"
#include "trainyard/perf/calibration.hpp"
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

/// Each run predicted after up to `most` others of its kind were measured: the share inside the
/// 80 % band, and the median width of that band against the published one.
struct Calibrated {
    int runs = 0;
    double covered = 0;
    double width = 0;
};

Calibrated calibrated(const std::vector<const Scored*>& rows, std::size_t most) {
    std::map<std::string, std::vector<const Scored*>> kinds;
    for (const Scored* s : rows) {
        const std::string& name = s->run->model_name;
        kinds[name.substr(0, name.find_first_of("0123456789")) + '|' + s->run->accelerator + '|' +
              s->run->training.stack + '|' + s->run->group.substr(0, 4)]
            .push_back(s);
    }
    Calibrated out;
    std::vector<double> widths;
    const auto ratio = [](const Scored* s) { return *s->run->step / *s->predicted_step; };
    for (const auto& [kind, members] : kinds) {
        if (members.size() <= most) continue;
        // Of a sweep, a few stand for all.
        for (std::size_t i = 0; i < std::min<std::size_t>(members.size(), 20); ++i) {
            const perf::ErrorBand before = perf::error_band(members[i]->run->accelerator);
            std::vector<perf::MeasuredRun> others;
            for (std::size_t k = 1; k <= most; ++k) {
                // Far from it in the list: neighbours are often one mapping.
                const std::size_t at = (i + k * members.size() / (most + 1)) % members.size();
                const double r = ratio(members[at]);
                others.push_back({r, 0, {r}, 1, ""});
            }
            const perf::Calibration c = perf::calibrate({}, before, others);
            const double held_out = ratio(members[i]) / c.factor;
            ++out.runs;
            if (held_out >= c.band.low && held_out <= c.band.high) out.covered += 1;
            widths.push_back(std::log(c.band.high / c.band.low) /
                             std::log(before.high / before.low));
        }
    }
    out.covered /= out.runs;
    std::nth_element(widths.begin(), widths.begin() + out.runs / 2, widths.end());
    out.width = widths[static_cast<std::size_t>(out.runs) / 2];
    return out;
}

TEST_F(PublishedRuns, RunsOfTheSameKindNarrowTheBandAndItStillCovers) {
    const auto all = rows([](const Scored& s) { return s.run->tier == "1" && s.error; });
    for (const auto& [records, width] : {std::pair<std::size_t, double>{1, 0.9}, {3, 0.75}}) {
        const Calibrated c = calibrated(all, records);
        RecordProperty(std::to_string(records) + "_runs", c.runs);
        RecordProperty(std::to_string(records) + "_covered", std::to_string(c.covered));
        RecordProperty(std::to_string(records) + "_width", std::to_string(c.width));
        EXPECT_GE(c.covered, 0.74) << records << " of " << c.runs;
        EXPECT_LE(c.width, width) << records;
    }
}

}  // namespace
}  // namespace trainyard::validate
