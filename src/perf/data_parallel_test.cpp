#include "data_parallel.hpp"

#include <gtest/gtest.h>

#include "test_shapes.hpp"

namespace trainyard::perf {
namespace {

using workload::Zero;

double seconds(Seconds s) { return s / kSecond; }

/// Eight ranks of one node, 100 GB/s each, 10^9 parameters in 10 layers, two-byte gradients.
struct Fixture {
    Constants constants = test::ideal_constants();
    Stack stack = test::plain_stack();
    DataParallelInput in;
    Fixture() {
        in.parameters.dense = 1e9;
        in.parameters.units = 10;
        in.training = test::training(2048, 1, 8);
        in.training.parallel.data = 8;
        in.forward = 1 * kSecond;
        in.backward = 2 * kSecond;
    }
    DataParallelTime time() const {
        Network n;
        n.intra = 100 * kGBPerSecond;
        n.inter_node = 400 * kGBPerSecond;
        n.per_node = 8;
        n.constants = &constants.global;
        return data_parallel_time(in, n, constants.global, stack);
    }
};

/// One pass of 2 * 10^9 bytes around the ring: 7/8 of 2 GB at 100 GB/s.
constexpr double kPass = 7.0 / 8 * 2 / 100;

// Volumes per step (ZeRO, arXiv 1910.02054, sec. 7): stages 0 to 2 move 2 Psi, stage 3 moves 3 Psi.
TEST(DataParallel, VolumeByZeroStage) {
    Fixture f;
    for (const Zero z : {Zero::none, Zero::optimizer, Zero::gradients}) {
        f.in.training.parallel.zero = z;
        EXPECT_NEAR(seconds(f.time().total), 2 * kPass, 1e-9);
        EXPECT_NEAR(seconds(f.time().exposed), 2 * kPass, 1e-9);
    }
    f.in.training.parallel.zero = Zero::weights;
    EXPECT_NEAR(seconds(f.time().total), 3 * kPass, 1e-9);
}

TEST(DataParallel, ShardedWeightsAreGatheredForEveryMicroBatch) {
    Fixture f;
    f.in.training.parallel.zero = Zero::weights;
    f.in.micro_batches = 4;
    EXPECT_NEAR(seconds(f.time().total), 4 * 3 * kPass, 1e-9);
    // Pipeline stages keep the gathered weights until the step ends.
    f.in.training.parallel.pipeline = 2;
    EXPECT_NEAR(seconds(f.time().total), 2 * kPass, 1e-9);
}

TEST(DataParallel, FullWidthTrainingMovesFourBytes) {
    Fixture f;
    for (const Zero z : {Zero::none, Zero::optimizer, Zero::weights}) {
        f.in.training.parallel.zero = z;
        f.in.training.precision = catalog::Precision::bf16;
        const double half = seconds(f.time().total);
        f.in.training.precision = catalog::Precision::fp32;
        EXPECT_NEAR(seconds(f.time().total), 2 * half, 1e-9);
    }
}

TEST(DataParallel, ShardedExpertsGatherOverTheirOwnReplicas) {
    Fixture f;
    f.in.training.parallel.zero = Zero::weights;
    f.in.training.parallel.expert = 8;
    f.in.parameters.dense = 0;
    f.in.parameters.expert = 1e9;
    EXPECT_EQ(seconds(f.time().total), 0);  // each expert lives once: nothing to gather
    f.in.training.parallel.expert = 4;      // over two replicas: 3 passes of half of 2 GB
    EXPECT_NEAR(seconds(f.time().total), 3 * 0.5 * 2 / 100, 1e-9);
}

TEST(DataParallel, OneReplicaSendsNothing) {
    Fixture f;
    f.in.training.parallel.data = 1;
    EXPECT_EQ(seconds(f.time().total), 0);
}

TEST(DataParallel, OverlapHidesWhatFitsTheWindow) {
    Fixture f;
    f.stack.data_overlap = true;
    f.constants.global.bucket_overlap = 0.5;
    f.constants.global.overlap_slowdown = 0.1;
    // Half of the 2 s backward could hide the 35 ms: all of it, at 10 % of it in slower kernels.
    EXPECT_NEAR(seconds(f.time().exposed), 0, 1e-12);
    EXPECT_NEAR(seconds(f.time().slowdown), 0.1 * 2 * kPass, 1e-9);
    // A backward of 20 ms hides 10 ms.
    f.in.backward = 20 * kMillisecond;
    EXPECT_NEAR(seconds(f.time().exposed), 2 * kPass - 0.010, 1e-9);
}

TEST(DataParallel, FirstGatherIsAlwaysExposed) {
    Fixture f;
    f.stack.data_overlap = true;
    f.constants.global.shard_overlap = 1;
    f.in.training.parallel.zero = Zero::weights;
    // Ten layers: one layer's gather, a tenth of a pass, has no work to hide under.
    EXPECT_NEAR(seconds(f.time().exposed), kPass / 10, 1e-9);
}

TEST(DataParallel, HybridShardsInsideAndReducesAcross) {
    Fixture f;
    f.in.training.parallel.data = 32;
    f.in.training.parallel.zero = Zero::weights;
    f.in.training.parallel.shard_group = 8;
    // Inside each node three passes at 100 GB/s. Across, each of the 8 ranks reduces its eighth of
    // the gradients over 4 nodes, at an eighth of the node's 400 GB/s: 2 * 3/4 * 0.25 GB / 50 GB/s.
    EXPECT_NEAR(seconds(f.time().total), 3 * kPass + 2 * 0.75 * 0.25 / 50, 1e-9);
    const double hybrid = seconds(f.time().total);
    f.in.training.parallel.shard_group = 0;
    // Full sharding runs one ring over all 32 ranks, which the 100 GB/s inside rules: 31/32.
    EXPECT_NEAR(seconds(f.time().total), 3 * 31.0 / 32 * 2 / 100, 1e-9);
    EXPECT_GT(hybrid, 0);
}

TEST(DataParallel, AdaptersReduceOnlyWhatTrains) {
    Fixture f;
    f.in.parameters.trainable_dense = 0.01;
    EXPECT_NEAR(seconds(f.time().total), 0.01 * 2 * kPass, 1e-9);
}

TEST(DataParallel, ExpertsReduceOverTheirOwnReplicas) {
    Fixture f;
    f.in.parameters.dense = 0;
    f.in.parameters.expert = 1e9;
    f.in.training.parallel.expert = 8;  // each expert lives once: nothing to reduce
    EXPECT_EQ(seconds(f.time().total), 0);
    f.in.training.parallel.expert = 4;  // two replicas, 4 apart, in one node: 2 * 1/2 * 2 GB
    EXPECT_NEAR(seconds(f.time().total), 2 * 0.5 * 2 / 100, 1e-9);
}

}  // namespace
}  // namespace trainyard::perf
