#include "flops.hpp"

#include <gtest/gtest.h>

#include "test_shapes.hpp"

namespace trainyard::perf {
namespace {

using workload::Recompute;

// 72 B L s h^2 (1 + s / 6h + V / 12hL): forward and backward of a GPT, full score matrix
// (Korthikanti et al., arXiv 2205.05198, appendix A).
double korthikanti(double b, double l, double s, double h, double v) {
    return 72 * b * l * s * h * h * (1 + s / (6 * h) + v / (12 * h * l));
}

TEST(Flops, GptEqualsThePublishedFormula) {
    const workload::Model m = test::gpt(96, 12288, 96);
    const workload::Training t = test::training(2048, 1, 1536);
    EXPECT_NEAR(step_flop(m, t).full / kFlop / korthikanti(1536, 96, 2048, 12288, 51200), 1, 1e-12);
}

TEST(Flops, FullRecomputeIsTheForwardPassAgain) {
    const workload::Model m = test::gpt(96, 12288, 96);
    workload::Training t = test::training(2048, 1, 1536);
    t.recompute = Recompute::full;
    // 96 B L s h^2 (1 + s / 6h + V / 16hL) (Narayanan et al., arXiv 2104.04473, sec. 5.1): the head
    // is not run again.
    const double expected = 96.0 * 1536 * 96 * 2048 * 12288 * 12288 *
                            (1 + 2048 / (6 * 12288.0) + 51200 / (16.0 * 96 * 12288));
    EXPECT_NEAR(step_flop(m, t).hardware / kFlop / expected, 1, 1e-12);
}

TEST(Flops, SelectiveRecomputeRunsAttentionAgain) {
    const workload::Model m = test::gpt(96, 12288, 96);
    workload::Training t = test::training(2048, 1, 1536);
    t.recompute = Recompute::selective;
    // s / 6h becomes 4/3 of itself: attention forward is a third of forward and backward.
    const double expected = 72.0 * 1536 * 96 * 2048 * 12288 * 12288 *
                            (1 + 4.0 / 3 * 2048 / (6 * 12288.0) + 51200 / (12.0 * 96 * 12288));
    EXPECT_NEAR(step_flop(m, t).hardware / kFlop / expected, 1, 1e-12);
}

TEST(Flops, CausalCountsHalfTheScores) {
    const workload::Model m = test::gpt(24, 2048, 16);
    const StepFlop f = step_flop(m, test::training(4096, 1, 8));
    // The score term is 12 B L s^2 h.
    const double scores = 12.0 * 8 * 24 * 4096 * 4096 * 2048;
    EXPECT_NEAR((f.full - f.causal) / kFlop, scores / 2, 1e-9 * scores);
}

TEST(Flops, FrozenWeightsNeedNoWeightGradients) {
    const workload::Model m = test::gpt(24, 2048, 16);
    workload::Training t = test::training(1, 1, 1);  // one token: scores are negligible but exact
    const double full = step_flop(m, t).full / kFlop;
    t.method = workload::Method::lora;
    const double scores = 12.0 * 24 * 2048;
    EXPECT_NEAR(step_flop(m, t).full / kFlop - scores, 4.0 / 6 * (full - scores), 1);
}

TEST(Flops, OnlyChosenExpertsCount) {
    workload::Model m = test::gpt(2, 1024, 8, 1000);
    m.gated_mlp = true;
    workload::MixtureOfExperts moe;
    moe.experts = 8;
    moe.experts_per_token = 2;
    moe.expert_ffn_hidden = 512;
    moe.shared_ffn_hidden = 256;
    m.moe = moe;
    // Per token and layer: attention 4 * 1024^2, experts 3 * 1024 * (2 * 512 + 256), router
    // 1024 * 8; head 1024 * 1000; scores at s = 1: 12 * 2 * 1024.
    const double weights =
        2 * (4.0 * 1024 * 1024 + 3.0 * 1024 * (2 * 512 + 256) + 1024 * 8) + 1024 * 1000;
    EXPECT_NEAR(step_flop(m, test::training(1, 1, 1)).full / kFlop, 6 * weights + 12.0 * 2 * 1024,
                1);
}

TEST(Flops, SlidingLayersSeeTheWindowOnly) {
    workload::Model m = test::gpt(2, 1024, 8);
    const workload::Training t = test::training(8192, 1, 1);
    const double all = step_flop(m, t).full / kFlop;
    m.sliding_window = 1024;
    m.sliding_layers = 1;
    // One of two layers drops from 8,192 to 1,024 keys: 12 s h per key difference.
    EXPECT_NEAR(all - step_flop(m, t).full / kFlop, 12.0 * 8192 * 1024 * (8192 - 1024), 1e6);
}

TEST(Flops, LatentAttentionByHand) {
    workload::Model m = test::gpt(1, 7168, 128, 1000);
    workload::LatentAttention a;  // DeepSeek-V3 (arXiv 2412.19437, sec. 4.2)
    a.q_lora_rank = 1536;
    a.kv_lora_rank = 512;
    a.qk_nope_head_dim = 128;
    a.qk_rope_head_dim = 64;
    a.v_head_dim = 128;
    m.mla = a;
    // q: 7168 * 1536 + 1536 * 128 * 192; kv: 7168 * (512 + 64) + 512 * 128 * 256; out: 128 * 128 *
    // 7168. MLP 2 * 7168 * 28672, head 7168 * 1000.
    const double attention =
        7168.0 * 1536 + 1536.0 * 128 * 192 + 7168.0 * 576 + 512.0 * 128 * 256 + 128.0 * 128 * 7168;
    const double weights = attention + 2.0 * 7168 * 28672 + 7168.0 * 1000;
    const double scores = 3 * 2 * 128.0 * (192 + 128);
    EXPECT_NEAR(step_flop(m, test::training(1, 1, 1)).full / kFlop, 6 * weights + scores, 10);
}

}  // namespace
}  // namespace trainyard::perf
