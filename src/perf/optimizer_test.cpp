#include "optimizer.hpp"

#include <gtest/gtest.h>

#include "test_shapes.hpp"

namespace trainyard::perf {
namespace {

using workload::Optimizer;
using workload::Zero;

TEST(Optimizer, StateBytesByKind) {
    // ZeRO (arXiv 1910.02054), sec. 3.1: fp32 copy, momentum and variance, 4 bytes each.
    EXPECT_EQ(optimizer_state_bytes(Optimizer::adamw_fp32), 12);
    // Two 16-bit moments; the 16-bit weights are updated in place.
    EXPECT_EQ(optimizer_state_bytes(Optimizer::adamw_bf16), 4);
    // Two one-byte moments (arXiv 2110.02861) beside the fp32 copy.
    EXPECT_EQ(optimizer_state_bytes(Optimizer::adamw_8bit), 6);
    EXPECT_EQ(optimizer_state_bytes(Optimizer::adafactor), 4);
    EXPECT_EQ(optimizer_state_bytes(Optimizer::sgd), 8);
    EXPECT_EQ(optimizer_state_bytes(Optimizer::muon), 8);
}

TEST(Optimizer, FullWidthWeightsAreTheirOwnMasterCopy) {
    EXPECT_EQ(optimizer_state_bytes(Optimizer::adamw_fp32, 4), 8);
    EXPECT_EQ(optimizer_state_bytes(Optimizer::adamw_bf16, 4), 4);
    EXPECT_EQ(optimizer_state_bytes(Optimizer::adamw_8bit, 4), 2);
    EXPECT_EQ(optimizer_state_bytes(Optimizer::adafactor, 4), 0);
    EXPECT_EQ(optimizer_state_bytes(Optimizer::sgd, 4), 4);
}

TEST(Optimizer, StepStreamsStatesGradientsAndWeights) {
    Constants c = test::ideal_constants();
    const Device d =
        make_device(test::round_accelerator(), catalog::Precision::bf16, test::plain_stack(), c);
    // 10^9 parameters: 12 bytes read and written, a 2-byte gradient read, a 2-byte weight written:
    // 28 bytes at 1 TB/s = 28 ms.
    EXPECT_NEAR(optimizer_time(Optimizer::adamw_fp32, 1e9, d, test::plain_stack()) / kSecond, 0.028,
                1e-12);
    c.global.optimizer_passes = 1.5;
    EXPECT_NEAR(optimizer_time(Optimizer::adamw_fp32, 1e9, d, test::plain_stack()) / kSecond, 0.042,
                1e-12);
}

TEST(Optimizer, ShardsFollowTheZeroStageAndTheGroup) {
    workload::Parallelism p;
    p.data = 16;
    p.context = 2;
    p.tensor = 4;
    EXPECT_EQ(optimizer_shards(p, false), 1);
    p.zero = Zero::optimizer;
    EXPECT_EQ(optimizer_shards(p, false), 32);  // DP x CP
    p.shard_group = 8;                          // hybrid: inside a node
    EXPECT_EQ(optimizer_shards(p, false), 8);
    p.expert = 8;
    // Experts are already spread over 8 of the 32 x 4 ranks of a stage: 16 replicas of each.
    EXPECT_EQ(optimizer_shards(p, true), 16);
}

}  // namespace
}  // namespace trainyard::perf
