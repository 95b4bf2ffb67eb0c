#include "facts_state.hpp"

#include "test_job.hpp"
#include "trainyard/plan/search.hpp"

namespace trainyard::plan {
namespace {

/// The training state of `type` with the first mapping found, and what the memory model holds.
struct Both {
    double fact = 0;    ///< bytes per trained parameter
    double memory = 0;  ///< the same from weights + gradients + optimizer of one device
};
Both both(const Request& r, const std::string& type) {
    const auto& a = Assumptions::embedded();
    const Work work = work_of(r.job, a);
    const SearchResult found =
        search_type(r, test::catalog(), a, *test::catalog().instance(type), {1});
    EXPECT_FALSE(found.candidates.empty());
    if (found.candidates.empty()) return {};
    const Candidate& c = found.candidates.front();
    EXPECT_EQ(c.devices(), 1);
    Option o{c, {}};
    o.offer.needs = data_needs(r.job, work, c, a);
    const Limits limits;
    const Context x{r, test::catalog(), a, work, limits, {}, {}};
    const perf::MemoryBreakdown& m = c.prediction.memory;
    return {training_state(x, o).bytes_per_trained,
            (m.weights + m.gradients + m.optimizer) / kByte / work.params};
}

// One device shards nothing: the fact and the memory model count the same bytes a parameter.
TEST(TrainingState, IsWhatTheMemoryModelHolds) {
    Request r = test::request(test::tiny_model(), 1e9);
    const Both tuned = both(r, "p5.4xlarge");
    EXPECT_NEAR(tuned.fact, 18, 1e-9);  // 2 weights, 4 gradients, 12 optimizer
    EXPECT_NEAR(tuned.memory, tuned.fact, 1e-6);
    r.job.stack = "megatron-bridge";  // reduces gradients in 16 bit
    const Both narrow = both(r, "p5.4xlarge");
    EXPECT_NEAR(narrow.fact, 16, 1e-9);
    EXPECT_NEAR(narrow.memory, narrow.fact, 1e-6);
}

}  // namespace
}  // namespace trainyard::plan
