#include "layer.hpp"

#include <gtest/gtest.h>

#include "test_shapes.hpp"

namespace trainyard::perf {
namespace {

double seconds(Seconds s) { return s / kSecond; }

/// One GPT layer of width 12,800 (100 tiles of 128) on the round machine.
struct Fixture {
    Constants constants = test::ideal_constants();
    Stack stack = test::plain_stack();
    workload::Model model = test::gpt(1, 12800, 100, 12800);
    LayerShape shape;
    Fixture() {
        shape.micro_batch = 1;
        shape.sequence = 12800;
    }
    Device device(catalog::Precision precision = catalog::Precision::bf16) const {
        return make_device(test::round_accelerator(), precision, stack, constants);
    }
    Network network() const {
        Network n;
        n.intra = 100 * kGBPerSecond;
        n.inter_node = 400 * kGBPerSecond;
        n.per_node = 8;
        n.constants = &constants.global;
        return n;
    }
    LayerCost layer() const {
        return layer_cost(model, LayerKind::dense, shape, device(), network(), stack);
    }
};

TEST(Layer, GemmsAreTwentyFourBshSquared) {
    const Fixture f;
    // q, k, v and output 4 h^2, MLP 8 h^2: 24 tokens h^2 FLOP forward, twice that backward.
    const double forward = 24.0 * 12800 * 12800 * 12800 / 100e12;
    EXPECT_NEAR(seconds(f.layer().forward.gemm), forward, 1e-6 * forward);
    EXPECT_NEAR(seconds(f.layer().backward.gemm), 2 * forward, 1e-6 * forward);
}

TEST(Layer, StreamingBytesOfAGptLayer) {
    const Fixture f;
    // Reads and writes per token in units of h: two norms 2 * 2, bias, dropout and residual 2 * 3,
    // bias of q and k (1 + 1) * 2, GELU 2 on 4 h = 8: 22 h elements of two bytes at 1 TB/s.
    EXPECT_NEAR(seconds(f.layer().forward.memory_bound), 22.0 * 2 * 12800 * 12800 / 1e12, 1e-12);
    // Backward: norms twice, residuals once, bias twice, GELU 1.5 times: 8 + 6 + 8 + 12 = 34 h; and
    // 12 h^2 weight gradients of 4 bytes, read and written.
    const double gradients = 12.0 * 12800 * 12800 * 2 * f.stack.gradient_bytes / 1e12;
    EXPECT_NEAR(seconds(f.layer().backward.memory_bound),
                34.0 * 2 * 12800 * 12800 / 1e12 + gradients, 1e-12);
}

TEST(Layer, HostLaunchesEveryKernel) {
    Fixture f;
    f.constants.global.host_us_per_kernel = 1;
    // Forward: 4 GEMMs, attention 1, streaming 2 norms + 2 residuals + 1 bias + 1 GELU = 11.
    EXPECT_NEAR(seconds(f.layer().forward.host), 11e-6, 1e-12);
    // Backward: 8 GEMMs, attention 3, streaming 2 * 2 + 2 + 2 + 1.5 = 9.5: 20.5.
    EXPECT_NEAR(seconds(f.layer().backward.host), 20.5e-6, 1e-12);
    f.stack.host = HostMode::graphs;
    f.constants.global.graph_us_per_kernel = 0.1;
    EXPECT_NEAR(seconds(f.layer().forward.host), 1.1e-6, 1e-12);
}

TEST(Layer, TensorParallelismReducesTwicePerPass) {
    Fixture f;
    f.shape.tensor = 4;
    // The host starts both.
    const Seconds before = f.layer().forward.host;
    f.constants.global.collective_host_us = 50;
    EXPECT_NEAR(seconds(f.layer().forward.host - before), 100e-6, 1e-12);
    // One all-reduce after attention and one after the MLP: 2 * 3/4 of tokens * h * 2 bytes.
    const double each = 2 * 0.75 * 12800.0 * 12800 * 2 / 100e9;
    EXPECT_NEAR(seconds(f.layer().forward.tensor_comm), 2 * each, 1e-9);
    EXPECT_NEAR(seconds(f.layer().backward.tensor_comm), 2 * each, 1e-9);
    // Sequence parallelism: a gather and a scatter in its place, the same bytes.
    f.shape.sequence_parallel = true;
    EXPECT_NEAR(seconds(f.layer().forward.tensor_comm), 2 * each, 1e-9);
    // GEMMs that hide 60 % leave 40 %.
    f.stack.tensor_overlap = true;
    f.constants.global.tensor_overlap = 0.6;
    EXPECT_NEAR(seconds(f.layer().forward.tensor_comm), 0.4 * 2 * each, 1e-9);
    // A parallel block (attention beside the MLP) reduces once.
    f.model.parallel_block = true;
    EXPECT_NEAR(seconds(f.layer().forward.tensor_comm), 0.4 * each, 1e-9);
}

TEST(Layer, SequenceParallelismSplitsTheNorms) {
    Fixture f;
    f.shape.tensor = 4;
    const double whole = seconds(f.layer().forward.memory_bound);
    f.shape.sequence_parallel = true;
    // Norms and residuals, 10 of 22 h, drop to a quarter; bias and GELU were split already.
    EXPECT_NEAR(whole, (10 + 12 / 4.0) * 2 * 12800 * 12800 / 1e12, 1e-12);
    EXPECT_NEAR(seconds(f.layer().forward.memory_bound), (10 + 12) / 4.0 * 2 * 12800 * 12800 / 1e12,
                1e-12);
}

TEST(Layer, ContextRingPassesKeysAndValues) {
    Fixture f;
    f.shape.context = 4;
    f.constants.global.context_overlap = 0.5;
    // Three hops of a block: 3,200 tokens of 2 h elements of two bytes at 100 GB/s, half hidden.
    const double hop = 3200.0 * 2 * 12800 * 2 / 100e9;
    EXPECT_NEAR(seconds(f.layer().forward.context_comm), 3 * hop * 0.5, 1e-9);
    EXPECT_NEAR(seconds(f.layer().backward.context_comm), 2 * 3 * hop * 0.5, 1e-9);
}

TEST(Layer, ExpertsDispatchAndCombine) {
    Fixture f;
    workload::MixtureOfExperts moe;
    moe.experts = 8;
    moe.experts_per_token = 2;
    moe.expert_ffn_hidden = 12800;
    f.model.moe = moe;
    f.shape.expert = 8;
    const LayerCost c =
        layer_cost(f.model, LayerKind::moe, f.shape, f.device(), f.network(), f.stack);
    // Two all-to-alls a pass; each row of 12,800 two-byte elements goes to 2 experts, 7 of 8 away.
    const double each = 12800.0 * 12800 * 2 * 2 * 7 / 8 / 100e9;
    EXPECT_NEAR(seconds(c.forward.expert_comm), 2 * each, 1e-9);
    EXPECT_NEAR(seconds(c.backward.expert_comm), 2 * each, 1e-9);
    // A stack may hide the exchange always, or only where it crosses nodes.
    f.constants.global.expert_overlap = 0.25;
    f.stack.expert_overlap = Overlap::across_nodes;
    const auto shown = [&](const Network& n) {
        return seconds(layer_cost(f.model, LayerKind::moe, f.shape, f.device(), n, f.stack)
                           .forward.expert_comm);
    };
    EXPECT_NEAR(shown(f.network()), 2 * each, 1e-9);
    Network two_nodes = f.network();
    two_nodes.per_node = 4;
    const double hidden = shown(two_nodes);
    f.stack.expert_overlap = Overlap::none;
    EXPECT_NEAR(hidden / shown(two_nodes), 0.75, 1e-9);
    // The busiest expert has more than the mean: both work and traffic follow it.
    f.constants.global.expert_imbalance = 1.5;
    const LayerCost uneven =
        layer_cost(f.model, LayerKind::moe, f.shape, f.device(), f.network(), f.stack);
    EXPECT_GT(uneven.forward.gemm, c.forward.gemm);
    EXPECT_GT(uneven.forward.expert_comm, c.forward.expert_comm);
}

TEST(Layer, FusedExpertsNeitherCastNorActivateOnTheirOwn) {
    Fixture f;
    workload::MixtureOfExperts moe;
    moe.experts = 8;
    moe.experts_per_token = 2;
    moe.expert_ffn_hidden = 12800;
    f.model.moe = moe;
    Device d = f.device();
    d.fp8 = true;
    const LayerCost apart = layer_cost(f.model, LayerKind::moe, f.shape, d, f.network(), f.stack);
    d.fused_experts = true;
    const LayerCost fused = layer_cost(f.model, LayerKind::moe, f.shape, d, f.network(), f.stack);
    // 2 x 12,800 routed rows of h = f = 12,800: two casts of 4 bytes an element, and an activation
    // of two passes over two-byte elements, at 1 TB/s.
    const double rows = 2.0 * 12800 * 12800;
    EXPECT_NEAR(seconds(apart.forward.memory_bound - fused.forward.memory_bound),
                rows * (2 * 4 + 2 * 2) / 1e12, 1e-9);
    EXPECT_EQ(seconds(apart.forward.gemm), seconds(fused.forward.gemm));
}

TEST(Layer, FullRecomputeIsTheForwardPass) {
    Fixture f;
    f.constants.global.checkpoint_host_us = 100;
    const LayerCost c = f.layer();
    EXPECT_EQ(seconds(c.full_recompute.compute()), seconds(c.forward.compute()));
    EXPECT_NEAR(seconds(c.full_recompute.host - c.forward.host), 100e-6, 1e-12);
}

TEST(Layer, SelectiveRecomputeRepeatsNoGemm) {
    Fixture f;
    EXPECT_EQ(seconds(f.layer().selective_recompute.gemm), 0);
    EXPECT_LT(f.layer().selective_recompute.compute(), f.layer().full_recompute.compute());
    f.stack.selective_gemm = 0.5;  // torchtitan: every other matrix product
    EXPECT_NEAR(f.layer().selective_recompute.gemm / f.layer().forward.gemm, 0.5, 1e-12);
}

TEST(Layer, AdaptersSaveTheWeightGradients) {
    Fixture f;
    const double full = seconds(f.layer().backward.gemm);
    f.shape.method = workload::Method::lora;
    f.shape.lora_rank = 16;
    EXPECT_LT(seconds(f.layer().backward.gemm), 0.6 * full);
    EXPECT_GT(seconds(f.layer().backward.gemm), 0.5 * full);
}

TEST(Edge, HeadIsOneProductAndAnFp32Loss) {
    const Fixture f;
    const EdgeCost e = edge_cost(f.model, f.shape, f.device(), f.network());
    // 2 tokens h V FLOP forward, twice backward; 6 passes of two bytes over the logits each way.
    const double product = 2.0 * 12800 * 12800 * 12800 / 100e12;
    EXPECT_NEAR(seconds(e.head_forward.gemm), product, 1e-6 * product);
    EXPECT_NEAR(seconds(e.head_backward.gemm), 2 * product, 1e-6 * product);
    EXPECT_NEAR(seconds(e.head_forward.memory_bound), 6 * 2.0 * 12800 * 12800 / 1e12, 1e-12);
}

TEST(Edge, MaskedModelsDecodeFifteenPercent) {
    Fixture f;
    const double all =
        seconds(edge_cost(f.model, f.shape, f.device(), f.network()).head_forward.memory_bound);
    f.model.causal = false;
    EXPECT_NEAR(
        seconds(edge_cost(f.model, f.shape, f.device(), f.network()).head_forward.memory_bound),
        0.15 * all, 1e-12);
}

}  // namespace
}  // namespace trainyard::perf
