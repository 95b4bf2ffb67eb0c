// Counts by hand, place by place. The published counts of whole models are in model_table_test.cpp.

#include <gtest/gtest.h>

#include <cmath>

#include "trainyard/workload/model.hpp"

namespace trainyard::workload {
namespace {

Model llama_8b() {
    Model m;
    m.layers = 32;
    m.hidden = 4096;
    m.heads = 32;
    m.kv_heads = 8;
    m.head_dim = 128;
    m.ffn_hidden = 14336;
    m.vocab = 128256;
    m.max_positions = 131072;
    m.gated_mlp = true;
    return m;
}

TEST(CountParameters, Llama8bPlaceByPlace) {
    const ParameterCount p = count_parameters(llama_8b());
    EXPECT_EQ(p.embedding, 525'336'576);  // 128256 * 4096
    EXPECT_EQ(p.head, 525'336'576);       // untied
    EXPECT_EQ(p.attention, 41'943'040);   // q 4096^2 + k,v 2*4096*1024 + o 4096^2
    EXPECT_EQ(p.dense_mlp, 176'160'768);  // 3 * 4096 * 14336
    EXPECT_EQ(p.norms, 8192);             // 2 * 4096
    EXPECT_EQ(p.final_norm, 4096);
    EXPECT_EQ(p.dense_layer(), 218'112'000);  // 41943040 + 176160768 + 8192
    EXPECT_EQ(p.total, 8'030'261'248);        // 32 * 218112000 + 2 * 525336576 + 4096
    EXPECT_EQ(p.active, p.total);
}

TEST(CountParameters, ExpertsCountFullyInTotalAndTopKInActive) {
    Model m = llama_8b();
    m.vocab = 32000;
    m.moe = MixtureOfExperts{.experts = 8, .experts_per_token = 2, .expert_ffn_hidden = 14336};
    const ParameterCount p = count_parameters(m);
    EXPECT_EQ(p.router, 32768);               // 8 * 4096
    EXPECT_EQ(p.routed_expert, 176'160'768);  // 3 * 4096 * 14336
    EXPECT_EQ(p.shared_expert, 0);
    EXPECT_EQ(p.total, 46'702'792'704);  // Mixtral 8x7B
    // 6 of 8 experts are idle in each of 32 layers.
    EXPECT_EQ(p.active,
              46'702'792'704 - 32LL * 6 * 176'160'768);  // 12,879,925,248: the "12.9B active"
}

TEST(CountParameters, BiasesAndNormBiases) {
    Model m;
    m.layers = 1;
    m.hidden = 8;
    m.heads = 2;
    m.kv_heads = 1;
    m.head_dim = 4;
    m.ffn_hidden = 16;
    m.vocab = 10;
    m.norm = Norm::layer_norm;
    m.attention_bias = true;
    m.attention_out_bias = true;
    m.mlp_bias = true;
    m.head_bias = true;
    const ParameterCount p = count_parameters(m);
    EXPECT_EQ(p.attention,
              64 + 2 * 8 * 4 + 64 + (8 + 2 * 4) + 8);  // q, k and v, o, biases of q/k/v, bias of o
    EXPECT_EQ(p.dense_mlp, 8 * 16 + 16 * 8 + 16 + 8);
    EXPECT_EQ(p.norms, 2 * 16);  // weight and bias
    EXPECT_EQ(p.head, 10 * 8 + 10);
    m.norm_bias = false;
    EXPECT_EQ(count_parameters(m).norms, 2 * 8);
}

TEST(CountParameters, LatentAttentionOfDeepSeekV3) {
    Model m;
    m.layers = 1;
    m.hidden = 7168;
    m.heads = 128;
    m.kv_heads = 128;
    m.ffn_hidden = 18432;
    m.gated_mlp = true;
    m.mla = LatentAttention{.q_lora_rank = 1536,
                            .kv_lora_rank = 512,
                            .qk_nope_head_dim = 128,
                            .qk_rope_head_dim = 64,
                            .v_head_dim = 128};
    // q_a 7168*1536 + norm 1536 + q_b 1536*128*192 + kv_a 7168*576 + norm 512 + kv_b 512*128*256 +
    // o 128*128*7168
    EXPECT_EQ(count_parameters(m).attention,
              11'010'048 + 1536 + 37'748'736 + 4'128'768 + 512 + 16'777'216 + 117'440'512);
    m.mla->q_lora_rank =
        0;  // a full query projection, 7168*128*192, in place of q_a, its norm and q_b
    EXPECT_EQ(count_parameters(m).attention,
              176'160'768 + 4'128'768 + 512 + 16'777'216 + 117'440'512);
}

TEST(CountParameters, EstimateAgreesAndCannotOverflow) {
    const Model m = llama_8b();
    EXPECT_DOUBLE_EQ(estimate_parameters(m), 8'030'261'248.0);
    Model huge = m;
    huge.layers = 10'000;
    huge.hidden = 1'000'000;
    huge.ffn_hidden = 1'000'000;
    huge.moe = MixtureOfExperts{
        .experts = 100'000, .experts_per_token = 1, .expert_ffn_hidden = 1'000'000};
    EXPECT_GT(estimate_parameters(huge), 9e18);  // more than 2^63, and still a number
    EXPECT_TRUE(std::isfinite(estimate_parameters(huge)));
}

TEST(CountParameters, OpaqueModelsHaveOnlyATotal) {
    Model m;
    m.opaque_params = 25'557'032;
    const ParameterCount p = count_parameters(m);
    EXPECT_EQ(p.total, 25'557'032);
    EXPECT_EQ(p.attention, 0);
}

TEST(CountAdapters, Llama8bOnAllLinearLayers) {
    // Published by everyone who fine-tunes it with rank 16: "trainable params: 41,943,040".
    const AdapterCount a = count_adapters(llama_8b(), 16);
    EXPECT_EQ(a.total, 41'943'040);
    EXPECT_EQ(a.attention, 16 * (2 * (4096 + 4096) + 2 * (4096 + 1024)));
    EXPECT_EQ(a.dense_mlp, 16 * 3 * (4096 + 14336));
}

TEST(CountAdapters, EveryExpertHasItsOwnOfItsOwnWidth) {
    Model m = llama_8b();
    m.moe = MixtureOfExperts{.experts = 64,
                             .experts_per_token = 8,
                             .expert_ffn_hidden = 1024,
                             .shared_ffn_hidden = 2048,
                             .dense_layers = 2};
    const AdapterCount a = count_adapters(m, 4);
    EXPECT_EQ(a.routed_expert, 4 * 3 * (4096 + 1024));
    EXPECT_EQ(a.shared_expert, 4 * 3 * (4096 + 2048));
    EXPECT_EQ(a.total,
              32 * a.attention + 2 * a.dense_mlp + 30 * (64 * a.routed_expert + a.shared_expert));
    EXPECT_NE(adapted_modules(m).find("each of 64 experts"), std::string::npos);
}

TEST(CountAdapters, LatentAttentionHasFiveMatrices) {
    // DeepSeek V3's attention: hidden 7168, 128 heads, ranks 1536 and 512, head 128 + 64 and 128.
    Model m;
    m.layers = 1;
    m.hidden = 7168;
    m.heads = 128;
    m.mla = LatentAttention{1536, 512, 128, 64, 128};
    const double by_hand =
        (7168 + 1536) + (1536 + 128 * 192) + (7168 + 576) + (512 + 128 * 256) + (128 * 128 + 7168);
    EXPECT_EQ(count_adapters(m, 1).attention, by_hand);
}

}  // namespace
}  // namespace trainyard::workload
