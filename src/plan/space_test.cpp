#include "trainyard/plan/space.hpp"

#include <gtest/gtest.h>

#include <set>

#include "test_job.hpp"

namespace trainyard::plan {
namespace {

TEST(Space, NodeCountsAreTwosThreesAndFives) {
    EXPECT_EQ(node_counts(1), (std::vector<int>{1}));
    EXPECT_EQ(node_counts(24), (std::vector<int>{1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24}));
}

TEST(Space, EveryMappingUsesAllDevicesOnce) {
    const auto all =
        parallelisms(test::model("llama-3.1-70b"), workload::Method::pretrain, 8192, 64, 8);
    ASSERT_GT(all.size(), 20U);
    for (const auto& p : all) {
        EXPECT_EQ(p.devices(), 64);
        EXPECT_LE(p.tensor, 8);
        EXPECT_EQ(8 % p.tensor, 0);  // eight key-value heads
    }
}

TEST(Space, TensorParallelismStopsAtTheKeyValueHeads) {
    workload::Model m = test::tiny_model();
    m.kv_heads = 2;
    for (const auto& p : parallelisms(m, workload::Method::pretrain, 2048, 8, 8))
        EXPECT_LE(p.tensor, 2);
}

TEST(Space, AFixedBatchShrinksButNeverGrows) {
    Work w;
    w.batch = 250;
    w.batch_is_limit = true;
    EXPECT_EQ(rounded_batch(w, 16, 1, 0.1), 240);
    EXPECT_EQ(rounded_batch(w, 16, 8, 0.5), 128);
    EXPECT_EQ(rounded_batch(w, 16, 8, 0.1), 0);  // 128 is 49 % off
    w.batch_is_limit = false;
    EXPECT_EQ(rounded_batch(w, 16, 1, 0.1), 256);  // 250 / 16 = 15.6 -> 16
    EXPECT_EQ(rounded_batch(w, 512, 1, 0.1), 0);
}

TEST(Space, ContextParallelismOnlyForLongSequences) {
    const workload::Model m = test::model("llama-3.1-8b");
    std::set<int> shorts;
    std::set<int> longs;
    for (const auto& p : parallelisms(m, workload::Method::pretrain, 4096, 16, 8))
        shorts.insert(p.context);
    for (const auto& p : parallelisms(m, workload::Method::pretrain, 131072, 16, 8))
        longs.insert(p.context);
    EXPECT_EQ(shorts, (std::set<int>{1}));
    EXPECT_EQ(longs, (std::set<int>{1, 2, 4, 8, 16}));
}

}  // namespace
}  // namespace trainyard::plan
