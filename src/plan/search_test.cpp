#include "trainyard/plan/search.hpp"

#include <gtest/gtest.h>

#include "best_mapping.hpp"
#include "test_job.hpp"
#include "trainyard/plan/space.hpp"

namespace trainyard::plan {
namespace {

/// The fastest fitting training by plain enumeration.
std::optional<Seconds> brute_force(const MappingQuery& q, perf::Predictor& predictor) {
    std::optional<Seconds> best;
    for (const auto& t :
         trainings(*q.model, q.base, *q.work, q.devices, q.per_node, q.batch_tolerance)) {
        if (!fits_plan(predictor.memory(t), q.memory_headroom)) continue;
        const Seconds total = steps_of(*q.work, t.global_batch) * predictor.predict(t).step.total;
        if (!best || total < *best) best = total;
    }
    return best;
}

struct Case {
    std::string name;
    workload::Model model;
    std::string instance;
    int nodes;
    double tokens;
};

// The pruned search must not lose the optimum: its winner is the brute-force optimum, or a simpler
// mapping within the tie of 2 %.
TEST(Search, PruningKeepsTheOptimum) {
    const Assumptions& a = Assumptions::embedded();
    workload::Model narrow = test::tiny_model();
    narrow.kv_heads = 2;
    const std::vector<Case> cases = {
        {"tiny on one GPU", test::tiny_model(), "g6e.xlarge", 1, 1e9},
        {"tiny on a node", test::tiny_model(), "p4d.24xlarge", 1, 1e9},
        {"narrow on two nodes", narrow, "p4d.24xlarge", 2, 1e9},
        {"8B on a node", test::model("llama-3.1-8b"), "p5.48xlarge", 1, 1e10},
        {"8B on three nodes", test::model("llama-3.1-8b"), "p4d.24xlarge", 3, 1e10},
        {"70B on eight nodes", test::model("llama-3.1-70b"), "p5.48xlarge", 8, 1e11},
        {"MoE on four nodes", test::model("mixtral-8x7b"), "p5.48xlarge", 4, 1e10},
    };
    for (const Case& k : cases) {
        SCOPED_TRACE(k.name);
        const Request r = test::request(k.model, k.tokens);
        const Work work = work_of(r.job, a);
        const catalog::Instance* i = test::catalog().instance(k.instance);
        ASSERT_NE(i, nullptr);
        auto cluster = perf::cluster_of(test::catalog(), *i, k.nodes);
        ASSERT_TRUE(cluster.has_value());
        perf::Predictor predictor(k.model, *cluster);
        MappingQuery q{&k.model,
                       base_training(r.job, work),
                       &work,
                       k.nodes * i->accelerators,
                       i->accelerators,
                       0.1,
                       0.05,
                       Pruning::on};
        SearchStats pruned;
        const BestMapping fast = best_mapping(q, predictor, pruned);
        q.pruning = Pruning::off;
        SearchStats full;
        const BestMapping slow = best_mapping(q, predictor, full);
        const auto truth = brute_force(q, predictor);
        ASSERT_EQ(fast.found, truth.has_value());
        ASSERT_EQ(slow.found, truth.has_value());
        if (!truth) continue;
        EXPECT_LE(fast.total / *truth, 1 + kTie);
        EXPECT_GE(fast.total / *truth, 1 - 1e-12);
        EXPECT_LE(slow.total / *truth, 1 + kTie);
        EXPECT_LT(pruned.predictions, full.predictions);
        EXPECT_EQ(complexity(fast.training), complexity(slow.training));
    }
}

TEST(Search, WinnersAreLegalAndFit) {
    const Assumptions& a = Assumptions::embedded();
    Request r = test::request(test::model("llama-3.1-70b"), 1e11);
    r.job.deadline = 30 * kDay;
    const SearchResult found = search(r, test::catalog(), a);
    ASSERT_FALSE(found.candidates.empty());
    for (const Candidate& c : found.candidates) {
        EXPECT_TRUE(workload::check_mapping(r.job.model, c.training).empty())
            << describe_cluster(c);
        EXPECT_TRUE(c.prediction.memory.fits_with_headroom()) << describe_cluster(c);
        EXPECT_EQ(c.devices(), c.nodes * c.instance->accelerators);
    }
}

TEST(Search, AFixedBatchIsNeverExceeded) {
    const Assumptions& a = Assumptions::embedded();
    Request r = test::request(test::tiny_model(), 1e9);
    r.job.sequence = 1024;
    r.job.global_batch_tokens = 250'000;
    for (const Candidate& c : search(r, test::catalog(), a).candidates) {
        EXPECT_LE(c.training.global_batch * 1024, 250'000) << describe_cluster(c);
    }
}

TEST(Search, NoV100WhereTheUserAsksForBf16) {
    const Assumptions& a = Assumptions::embedded();
    Request r = test::request(test::tiny_model(), 1e9);
    r.job.precision = catalog::Precision::bf16;
    const SearchResult found = search(r, test::catalog(), a);
    bool named = false;
    for (const Rejection& x : found.rejections) {
        if (x.instance == "p3dn.24xlarge") {
            named = x.why == Lost::no_bf16;
            EXPECT_NE(x.text.find("FP16 with loss scaling"), std::string::npos);
        }
    }
    EXPECT_TRUE(named);
}

TEST(Search, TrainiumOnlyWhenWelcome) {
    const Assumptions& a = Assumptions::embedded();
    Request r = test::request(test::model("llama-2-7b"), 1e10);
    const auto has_trainium = [&] {
        const SearchResult found = search(r, test::catalog(), a);
        for (const Candidate& c : found.candidates) {
            if (c.instance->family == "trn1") return true;
        }
        return false;
    };
    EXPECT_FALSE(has_trainium());
    r.job.trainium_ok = true;
    EXPECT_TRUE(has_trainium());
    r.job.mission_critical = true;
    EXPECT_FALSE(has_trainium());
}

}  // namespace
}  // namespace trainyard::plan
