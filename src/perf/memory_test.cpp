#include "memory.hpp"

#include <gtest/gtest.h>

#include "test_shapes.hpp"

namespace trainyard::perf {
namespace {

using workload::AttentionKernel;
using workload::Recompute;
using workload::Zero;

struct Fixture {
    Constants constants = test::ideal_constants();
    Stack stack = test::plain_stack();
    catalog::Accelerator accelerator = test::round_accelerator();
    workload::Model model = test::gpt(24, 2048, 16);
    workload::Training training = test::training(2048, 1, 64);
    Fixture() {
        training.precision = catalog::Precision::fp16;
        training.parallel.data = 64;
    }
    MemoryBreakdown memory() const {
        return memory_of(model, workload::count_parameters(model), training, accelerator, constants,
                         stack);
    }
    /// Activations of one layer and micro-batch, in units of s b h.
    double activations_per_layer() const {
        const double sbh = double(training.sequence) * training.micro_batch * model.hidden;
        return memory().activations / kByte / model.layers / sbh;
    }
};

// Model states per parameter, d = 64 replicas: 16, 4 + 12/d, 2 + 14/d, 16/d bytes
// (ZeRO, arXiv 1910.02054, fig. 1 and sec. 5).
TEST(Memory, StatesByZeroStage) {
    Fixture f;
    const double parameters = double(workload::count_parameters(f.model).total);
    const auto bytes_per_parameter = [&](Zero z) {
        f.training.parallel.zero = z;
        const MemoryBreakdown m = f.memory();
        return (m.weights + m.gradients + m.optimizer) / kByte / parameters;
    };
    EXPECT_NEAR(bytes_per_parameter(Zero::none), 16, 1e-9);
    EXPECT_NEAR(bytes_per_parameter(Zero::optimizer), 4 + 12.0 / 64, 1e-9);
    EXPECT_NEAR(bytes_per_parameter(Zero::gradients), 2 + 14.0 / 64, 1e-9);
    EXPECT_NEAR(bytes_per_parameter(Zero::weights), 16.0 / 64, 1e-9);
}

// fp32 training: 4 bytes each of weight, gradient and two moments, no second copy.
TEST(Memory, StatesOfFullWidthTraining) {
    Fixture f;
    f.training.precision = catalog::Precision::fp32;
    const double parameters = double(workload::count_parameters(f.model).total);
    const MemoryBreakdown m = f.memory();
    EXPECT_NEAR((m.weights + m.gradients + m.optimizer) / kByte / parameters, 16, 1e-9);
}

// The example of the ZeRO paper's figure 1: 7.5 B parameters on 64 GPUs: 120, 31.4, 16.6, 1.9 GB.
TEST(Memory, ZeroPaperExample) {
    Fixture f;
    // 36 layers of 4,096: 12 * 36 * 4096^2 = 7.25 B, the rest is the tables.
    f.model = test::gpt(36, 4096, 32);
    f.model.max_positions = 2048;
    const auto parameters = double(workload::count_parameters(f.model).total);
    ASSERT_NEAR(parameters / 7.5e9, 1, 0.01);
    const auto gigabytes = [&](Zero z) {
        f.training.parallel.zero = z;
        const MemoryBreakdown m = f.memory();
        return (m.weights + m.gradients + m.optimizer) / kGB * 7.5e9 / parameters;
    };
    EXPECT_NEAR(gigabytes(Zero::none), 120, 0.05);
    EXPECT_NEAR(gigabytes(Zero::optimizer), 31.4, 0.05);
    EXPECT_NEAR(gigabytes(Zero::gradients), 16.6, 0.05);
    EXPECT_NEAR(gigabytes(Zero::weights), 1.9, 0.05);
}

// Korthikanti et al. (arXiv 2205.05198, sec. 4) count 34 s b h bytes a layer for a GPT with
// dropout, plus 5 a s^2 b of scores. Two of the 34 are the one-byte masks after the attention
// output and after the MLP, which no model of today keeps: 32 without them.
TEST(Memory, ActivationsOfAGptLayer) {
    Fixture f;
    EXPECT_NEAR(f.activations_per_layer(), 32, 1e-9);
    f.training.attention = AttentionKernel::unfused;
    // Scores: 5 a s / h = 5 * 16 * 2048 / 2048 = 80.
    EXPECT_NEAR(f.activations_per_layer(), 32 + 80, 1e-9);
}

// With TP t: 10 + 24 / t, of which the 2 masks are in the 10; with sequence parallelism 34 / t.
TEST(Memory, ActivationsUnderTensorParallelism) {
    Fixture f;
    f.training.parallel.tensor = 8;
    f.training.parallel.data = 8;
    EXPECT_NEAR(f.activations_per_layer(), 8 + 24.0 / 8, 1e-9);
    f.training.parallel.sequence_parallel = true;
    EXPECT_NEAR(f.activations_per_layer(), 32.0 / 8, 1e-9);
    f.training.attention = AttentionKernel::unfused;
    EXPECT_NEAR(f.activations_per_layer(), (32.0 + 80) / 8, 1e-9);
}

TEST(Memory, FullRecomputeKeepsTheInputOnly) {
    Fixture f;
    f.training.recompute = Recompute::full;
    EXPECT_NEAR(f.activations_per_layer(), 2, 1e-9);
    f.training.parallel.tensor = 8;
    f.training.parallel.data = 8;
    EXPECT_NEAR(f.activations_per_layer(), 2, 1e-9);  // every rank keeps the whole input
    f.training.parallel.sequence_parallel = true;
    EXPECT_NEAR(f.activations_per_layer(), 2.0 / 8, 1e-9);
}

TEST(Memory, OffloadLeavesTwoLayerInputsOnTheDevice) {
    Fixture f;
    f.training.recompute = Recompute::full;
    const MemoryBreakdown kept = f.memory();
    f.training.offload_layer_inputs = true;
    const MemoryBreakdown away = f.memory();
    EXPECT_NEAR(away.activations / kept.activations, 2.0 / f.model.layers, 1e-9);
    EXPECT_NEAR((away.activations + away.offloaded) / kept.activations, 1, 1e-9);
    // Without full recomputation there is nothing to offload.
    f.training.recompute = Recompute::none;
    EXPECT_EQ(f.memory().offloaded / kByte, 0);
}

TEST(Memory, SelectiveRecomputeDropsTheScores) {
    Fixture f;
    f.training.attention = AttentionKernel::unfused;
    f.training.recompute = Recompute::selective;
    EXPECT_NEAR(f.activations_per_layer(), 32, 1e-9);
}

TEST(Memory, FirstStageHoldsAsManyMicroBatchesAsThereAreStages) {
    Fixture f;
    f.training.parallel.pipeline = 4;
    f.training.parallel.data = 4;
    f.training.global_batch = 64;  // 16 micro-batches
    f.model.vocab = 64;            // so that the last stage's logits stay small
    // 6 layers a stage, 4 micro-batches in flight: as much as 24 layers and one micro-batch.
    EXPECT_NEAR(f.activations_per_layer(), 32, 1e-9);
    EXPECT_EQ(f.memory().stage, 0);
    // With 2 micro-batches in all, no more than 2 are ever alive.
    f.training.global_batch = 8;
    EXPECT_NEAR(f.activations_per_layer(), 16, 1e-9);
    // Interleaving keeps 1 + (p - 1) / (p v) as much (arXiv 2205.05198, sec. 4.2.3): 1.375.
    f.training.global_batch = 64;
    f.training.parallel.virtual_stages = 2;
    EXPECT_NEAR(f.activations_per_layer(), 32 * (1 + 3.0 / 8), 1e-9);
}

TEST(Memory, ContextParallelismDividesTheSequence) {
    Fixture f;
    f.training.parallel.context = 4;
    f.training.parallel.data = 16;
    EXPECT_NEAR(f.activations_per_layer(), 32.0 / 4, 1e-9);
}

TEST(Memory, LogitsAreAliveWhereTheyExceedTheLayerInFlight) {
    Fixture f;
    f.model.vocab = 250880;
    f.stack.logit_bytes = 10;
    // 2,048 tokens x 250,880 x 10 bytes = 5.1 GB.
    EXPECT_NEAR(f.memory().logits / kByte, 2048.0 * 250880 * 10, 1);
    EXPECT_EQ(f.memory().workspace / kByte, 0);
    f.model.vocab = 64;
    EXPECT_EQ(f.memory().logits / kByte, 0);
    EXPECT_GT(f.memory().workspace / kByte, 0);
}

TEST(Memory, GatheredUnitsOfFullSharding) {
    Fixture f;
    f.training.parallel.zero = Zero::weights;
    f.model.vocab = 64;
    f.model.max_positions = 2048;
    const workload::ParameterCount count = workload::count_parameters(f.model);
    // Two gathered units in 16 bit (the next is fetched while one computes) and one full 16-bit
    // gradient: 6 bytes a parameter of an average unit.
    EXPECT_NEAR(f.memory().gathered / kByte, 6.0 * double(count.total) / 24, 1);
}

TEST(Memory, QuantisedBaseIsHalfAByteAndItsScales) {
    Fixture f;
    f.training.method = workload::Method::qlora;
    f.training.lora = workload::Lora{};
    f.model.vocab = 64;
    f.model.max_positions = 64;
    const double parameters = double(workload::count_parameters(f.model).total);
    // 0.5 byte and 0.05 of block scales (arXiv 2305.14314, sec. 3); adapters of rank 16 on top:
    // 16 * 2 * (4 * 2048 + 4 * 2048 + ...) stays under 2 % of the base.
    const double each = f.memory().weights / kByte / parameters;
    EXPECT_GT(each, 0.55);
    EXPECT_LT(each, 0.55 + 2 * 0.02);
    EXPECT_LT(f.memory().optimizer / f.memory().weights, 0.5);
}

TEST(Memory, TotalIsTheSumAndNamesTheLargestTerm) {
    Fixture f;
    f.constants.global.fragmentation = 0.1;
    f.constants.global.runtime_gb = 2;
    f.constants.global.nccl_gb_per_group = 0.5;
    const MemoryBreakdown m = f.memory();
    const Bytes sum = m.weights + m.gradients + m.optimizer + m.activations + m.logits +
                      m.gathered + m.workspace + m.fragmentation + m.runtime;
    EXPECT_NEAR(m.total / kByte, sum / kByte, 1);
    EXPECT_NEAR(m.runtime / kGB, 2.5, 1e-9);  // one group: data parallel
    EXPECT_NEAR(m.fragmentation / (m.activations + m.logits + m.workspace + m.gathered), 0.1,
                1e-12);
    EXPECT_EQ(m.largest(), "optimizer states");
    EXPECT_TRUE(m.fits());
    f.training.micro_batch = 64;
    EXPECT_EQ(f.memory().largest(), "activations");
    EXPECT_FALSE(f.memory().fits());
}

// The optimizer's own temporaries are alive when the activations are gone: the larger peak counts.
TEST(Memory, OptimizerStepCanBeThePeak) {
    Fixture f;
    f.stack.optimizer_temporary_bytes = 8;
    f.training.sequence = 64;
    f.model.vocab = 64;
    f.model.max_positions = 64;
    const double parameters = double(workload::count_parameters(f.model).total);
    EXPECT_NEAR(f.memory().workspace / kByte, 8 * parameters, 1);
    EXPECT_EQ(f.memory().activations / kByte, 0);
    f.training.sequence = 2048;
    f.training.micro_batch = 16;
    EXPECT_GT(f.memory().activations / kByte, 8 * parameters);
}

// What a form of parallelism is for must shrink with it, whatever else happens.
TEST(Memory, MoreParallelismShrinksItsTerm) {
    Fixture f;
    f.model = test::gpt(32, 4096, 32);
    f.training.global_batch = 256;
    f.training.micro_batch = 1;
    MemoryBreakdown last = f.memory();
    for (int tp = 2; tp <= 32; tp *= 2) {
        f.training.parallel.tensor = tp;
        f.training.parallel.data = 64 / tp;
        const MemoryBreakdown m = f.memory();
        EXPECT_LT(m.weights, last.weights) << tp;
        EXPECT_LT(m.optimizer, last.optimizer) << tp;
        EXPECT_LT(m.activations, last.activations) << tp;
        last = m;
    }
    f.training.parallel.tensor = 1;
    f.training.parallel.data = 64;
    last = f.memory();
    for (int pp = 2; pp <= 32; pp *= 2) {
        f.training.parallel.pipeline = pp;
        f.training.parallel.data = 64 / pp;
        const MemoryBreakdown m = f.memory();
        EXPECT_LT(m.weights, last.weights) << pp;
        EXPECT_LE(m.activations, last.activations) << pp;
        last = m;
    }
}

TEST(Memory, MoreRecomputeKeepsLess) {
    for (const AttentionKernel kernel : {AttentionKernel::flash, AttentionKernel::unfused}) {
        for (const char* stack : {"tuned", "torchtitan", "megatron-bridge"}) {
            Fixture f;
            f.stack = *find_stack(stack);
            f.training.attention = kernel;
            const auto kept = [&f](Recompute r) {
                f.training.recompute = r;
                return f.memory().activations;
            };
            EXPECT_LE(kept(Recompute::selective), kept(Recompute::none)) << stack;
            EXPECT_LT(kept(Recompute::full), kept(Recompute::selective)) << stack;
        }
    }
}

TEST(Memory, AdaptersOfExpertsFollowTheirOwnWidthAndRanks) {
    Fixture f;
    f.model.moe = workload::MixtureOfExperts{
        .experts = 8, .experts_per_token = 2, .expert_ffn_hidden = 512, .dense_layers = 4};
    f.training.method = workload::Method::lora;
    f.training.lora = workload::Lora{.rank = 8};
    f.training.parallel.data = 1;
    const workload::ParameterCount count = workload::count_parameters(f.model);
    const workload::AdapterCount a = workload::count_adapters(f.model, 8);
    const StageParameters whole = stage_parameters(f.model, count, f.training, 0);
    EXPECT_NEAR(whole.trainable(), a.total, 1e-6 * a.total);
    // 20 MoE layers of 8 experts with an up and a down matrix each.
    const double experts = 20 * 8 * 8.0 * 2 * (2048 + 512);
    EXPECT_NEAR(whole.expert * whole.trainable_expert, experts, 1e-6 * experts);
    f.training.parallel.data = 4;
    f.training.parallel.expert = 4;
    const StageParameters quarter = stage_parameters(f.model, count, f.training, 0);
    EXPECT_NEAR(quarter.expert * quarter.trainable_expert, experts / 4, 1e-6 * experts);
}

}  // namespace
}  // namespace trainyard::perf
