// Mixture-of-experts decoders: Mixtral, Qwen-MoE, DeepSeek V2/V3 (with latent attention), gpt-oss,
// Llama 4 (text). Defaults are those of the Transformers configuration classes
// (transformers/models/*/configuration_*.py, 4.57).

#include <algorithm>

#include "hf_family.hpp"

namespace trainyard::workload {
namespace {

void mixtral(FamilyConfig& c, Model& m) {
    read_llama_core(c, m);
    m.tied_embeddings = c.flag_or("tie_word_embeddings", false);
    MixtureOfExperts moe;
    moe.experts = c.size_or({"num_local_experts"}, kMaxExperts, 8);
    moe.experts_per_token = c.size_or({"num_experts_per_tok"}, kMaxExperts, 2);
    moe.expert_ffn_hidden = m.ffn_hidden;
    m.moe = moe;
    read_window(c, m, c.optional_size({"sliding_window"}, kMaxPositions), m.layers);
}

/// Qwen: layer i has experts if it is not in mlp_only_layers and (i + 1) is a multiple of
/// decoder_sparse_step.
int qwen_dense_layers(FamilyConfig& c, int layers) {
    const int step = c.size_or({"decoder_sparse_step"}, kMaxLayers, 1);
    std::vector<bool> dense(static_cast<std::size_t>(std::max(layers, 0)), false);
    for (std::size_t i = 0; i < dense.size(); ++i) dense[i] = (static_cast<int>(i) + 1) % step != 0;
    if (const doc::Node* only = c.node("mlp_only_layers"); only != nullptr) {
        for (const doc::Node& n : only->items()) {
            if (!n.is(doc::Node::Kind::integer)) continue;
            if (n.as_integer() >= 0 && n.as_integer() < layers)
                dense[static_cast<std::size_t>(n.as_integer())] = true;
        }
    }
    return static_cast<int>(std::count(dense.begin(), dense.end(), true));
}

void qwen_experts(FamilyConfig& c, Model& m) {
    MixtureOfExperts moe;
    moe.experts = c.size({"num_experts"}, kMaxExperts);
    moe.experts_per_token = c.size({"num_experts_per_tok"}, kMaxExperts);
    moe.expert_ffn_hidden = c.size({"moe_intermediate_size"}, kMaxWidth);
    moe.dense_layers = qwen_dense_layers(c, m.layers);
    m.moe = moe;
}

void qwen2_moe(FamilyConfig& c, Model& m) {
    read_llama_core(c, m);
    m.tied_embeddings = c.flag_or("tie_word_embeddings", false);
    m.attention_bias = c.flag_or("qkv_bias", true);
    qwen_experts(c, m);
    m.moe->shared_ffn_hidden = c.count_or({"shared_expert_intermediate_size"}, kMaxWidth, 5632);
    m.moe->shared_gate = m.moe->shared_ffn_hidden > 0;
}

void qwen3_moe(FamilyConfig& c, Model& m) {
    read_llama_core(c, m);
    m.tied_embeddings = c.flag_or("tie_word_embeddings", false);
    m.attention_bias = c.flag_or("attention_bias", false);
    m.attention_out_bias = m.attention_bias;
    m.qk_norm = true;
    qwen_experts(c, m);
}

/// DeepSeek: layer i has experts if i >= first_k_dense_replace and i is a multiple of
/// moe_layer_freq.
int deepseek_dense_layers(FamilyConfig& c, int layers, int default_first) {
    const int first = c.count_or({"first_k_dense_replace"}, kMaxLayers, default_first);
    const int step = c.size_or({"moe_layer_freq"}, kMaxLayers, 1);
    int dense = 0;
    for (int i = 0; i < layers; ++i) dense += i < first || i % step != 0 ? 1 : 0;
    return std::max(dense, std::min(first, kMaxLayers));
}

void read_latent_attention(FamilyConfig& c, Model& m) {
    LatentAttention a;
    // Written null in V2-Lite, which has a full query projection; absent means the class default.
    a.q_lora_rank = c.count_or({"q_lora_rank"}, kMaxWidth, c.says_null("q_lora_rank") ? 0 : 1536);
    a.kv_lora_rank = c.size_or({"kv_lora_rank"}, kMaxWidth, 512);
    a.qk_nope_head_dim = c.size_or({"qk_nope_head_dim"}, kMaxWidth, 128);
    a.qk_rope_head_dim = c.size_or({"qk_rope_head_dim"}, kMaxWidth, 64);
    a.v_head_dim = c.size_or({"v_head_dim"}, kMaxWidth, 128);
    m.mla = a;
    m.head_dim = a.qk_nope_head_dim + a.qk_rope_head_dim;
    m.kv_heads = m.heads;
}

void read_deepseek(FamilyConfig& c, Model& m, int default_first) {
    m.layers = c.size({"num_hidden_layers"}, kMaxLayers);
    m.hidden = c.size({"hidden_size"}, kMaxWidth);
    m.heads = c.size({"num_attention_heads"}, kMaxHeads);
    m.ffn_hidden = c.size({"intermediate_size"}, kMaxWidth);
    m.vocab = c.size({"vocab_size"}, kMaxVocab);
    m.max_positions = c.size_or({"max_position_embeddings"}, kMaxPositions, 4096);
    m.gated_mlp = true;
    m.tied_embeddings = c.flag_or("tie_word_embeddings", false);
    m.attention_bias = c.flag_or("attention_bias", false);
    m.attention_out_bias = m.attention_bias;
    read_latent_attention(c, m);
    MixtureOfExperts moe;
    moe.experts = c.size({"n_routed_experts"}, kMaxExperts);
    moe.experts_per_token = c.size({"num_experts_per_tok"}, kMaxExperts);
    moe.expert_ffn_hidden = c.size({"moe_intermediate_size"}, kMaxWidth);
    const int shared = c.count_or({"n_shared_experts"}, 1000, 0);
    moe.shared_ffn_hidden = shared * moe.expert_ffn_hidden;
    moe.dense_layers = deepseek_dense_layers(c, m.layers, default_first);
    m.moe = moe;
}

void deepseek_v2(FamilyConfig& c, Model& m) { read_deepseek(c, m, 0); }

/// V3 adds one correction value per expert (topk_method noaux_tc). The multi-token-prediction
/// module is stored in the checkpoint but is no layer of the model: it is not counted.
void deepseek_v3(FamilyConfig& c, Model& m) {
    read_deepseek(c, m, 3);
    if (m.moe) m.moe->router_bias = c.text_or("topk_method", "noaux_tc") == "noaux_tc";
    if (c.count_or({"num_nextn_predict_layers"}, kMaxLayers, 0) > 0) {
        m.assumptions.emplace_back(
            "the multi-token-prediction module (num_nextn_predict_layers) is not counted");
    }
}

/// gpt-oss: biases everywhere, one sink logit per head, every other layer sees 128 tokens.
void gpt_oss(FamilyConfig& c, Model& m) {
    read_llama_core(c, m);
    m.tied_embeddings = c.flag_or("tie_word_embeddings", false);
    m.attention_bias = c.flag_or("attention_bias", true);
    m.attention_out_bias = m.attention_bias;
    m.attention_sinks = true;
    m.mlp_bias = true;
    MixtureOfExperts moe;
    moe.experts = c.size_or({"num_local_experts", "num_experts"}, kMaxExperts, 128);
    moe.experts_per_token = c.size_or({"num_experts_per_tok", "experts_per_token"}, kMaxExperts, 4);
    moe.expert_ffn_hidden = m.ffn_hidden;
    moe.router_bias = true;
    m.moe = moe;
    read_window(c, m, c.size_or({"sliding_window"}, kMaxPositions, 128), (m.layers + 1) / 2);
}

/// Llama 4: every interleave_moe_layer_step-th layer has experts plus one shared expert of the same
/// width.
void llama4_text(FamilyConfig& c, Model& m) {
    read_llama_core(c, m);
    m.tied_embeddings = c.flag_or("tie_word_embeddings", false);
    m.attention_bias = c.flag_or("attention_bias", false);
    m.attention_out_bias = m.attention_bias;
    MixtureOfExperts moe;
    moe.experts = c.size_or({"num_local_experts"}, kMaxExperts, 16);
    moe.experts_per_token = c.size_or({"num_experts_per_tok"}, kMaxExperts, 1);
    moe.expert_ffn_hidden = m.ffn_hidden;
    moe.shared_ffn_hidden = m.ffn_hidden;
    const int step = c.size_or({"interleave_moe_layer_step"}, kMaxLayers, 1);
    moe.dense_layers = m.layers - m.layers / step;
    m.ffn_hidden = c.size_or({"intermediate_size_mlp"}, kMaxWidth, 16384);
    m.moe = moe;
    read_window(c, m, c.optional_size({"attention_chunk_size"}, kMaxPositions),
                m.layers - m.layers / 4);
}

}  // namespace

std::vector<Family> moe_families() {
    return {{"mixtral", mixtral},         {"qwen2_moe", qwen2_moe},     {"qwen3_moe", qwen3_moe},
            {"deepseek_v2", deepseek_v2}, {"deepseek_v3", deepseek_v3}, {"kimi_k2", deepseek_v3},
            {"gpt_oss", gpt_oss},         {"llama4_text", llama4_text}};
}

}  // namespace trainyard::workload
