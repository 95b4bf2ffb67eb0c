// Dense decoders with RMSNorm, rotary positions and a gated MLP: Llama and what followed it.
// Defaults are those of the Transformers configuration classes
// (transformers/models/*/configuration_*.py, 4.57).

#include "hf_family.hpp"

namespace trainyard::workload {
namespace {

void llama(FamilyConfig& c, Model& m) {
    read_llama_core(c, m);
    m.tied_embeddings = c.flag_or("tie_word_embeddings", false);
    m.attention_bias = c.flag_or("attention_bias", false);
    m.attention_out_bias = m.attention_bias;
    m.mlp_bias = c.flag_or("mlp_bias", false);
}

void mistral(FamilyConfig& c, Model& m) {
    read_llama_core(c, m);
    m.tied_embeddings = c.flag_or("tie_word_embeddings", false);
    read_window(c, m, c.optional_size({"sliding_window"}, kMaxPositions), m.layers);
}

/// Qwen2 has biases on q, k, v only, and no switch for them. Layers from max_window_layers on use
/// the window, and only if use_sliding_window is set.
void qwen2(FamilyConfig& c, Model& m) {
    read_llama_core(c, m);
    m.tied_embeddings = c.flag_or("tie_word_embeddings", false);
    m.attention_bias = true;
    const int full = c.count_or({"max_window_layers"}, kMaxLayers, 28);
    const std::optional<int> window = c.optional_size({"sliding_window"}, kMaxPositions);
    if (c.flag_or("use_sliding_window", false)) read_window(c, m, window, m.layers - full);
}

void qwen3(FamilyConfig& c, Model& m) {
    read_llama_core(c, m);
    m.tied_embeddings = c.flag_or("tie_word_embeddings", false);
    m.attention_bias = c.flag_or("attention_bias", false);
    m.attention_out_bias = m.attention_bias;
    m.qk_norm = true;
    const int full = c.count_or({"max_window_layers"}, kMaxLayers, 28);
    const std::optional<int> window = c.optional_size({"sliding_window"}, kMaxPositions);
    if (c.flag_or("use_sliding_window", false)) read_window(c, m, window, m.layers - full);
}

void gemma(FamilyConfig& c, Model& m) {
    read_llama_core(c, m);
    m.tied_embeddings = c.flag_or("tie_word_embeddings", true);
    m.attention_bias = c.flag_or("attention_bias", false);
    m.attention_out_bias = m.attention_bias;
}

void gemma2(FamilyConfig& c, Model& m) {
    gemma(c, m);
    m.norms_per_layer = 4;
    read_window(c, m, c.size_or({"sliding_window"}, kMaxPositions, 4096), (m.layers + 1) / 2);
}

/// The published gemma-3 multimodal configs leave out what equals the class default, so the
/// defaults matter here.
void gemma3_text(FamilyConfig& c, Model& m) {
    m.layers = c.size({"num_hidden_layers"}, kMaxLayers);
    m.hidden = c.size({"hidden_size"}, kMaxWidth);
    m.ffn_hidden = c.size({"intermediate_size"}, kMaxWidth);
    m.heads = c.size_or({"num_attention_heads"}, kMaxHeads, 8);
    m.kv_heads = c.size_or({"num_key_value_heads"}, kMaxHeads, 4);
    m.head_dim = c.size_or({"head_dim"}, kMaxWidth, 256);
    m.vocab = c.size_or({"vocab_size"}, kMaxVocab, 262208);
    m.max_positions = c.size_or({"max_position_embeddings"}, kMaxPositions, 131072);
    m.gated_mlp = true;
    m.tied_embeddings = c.flag_or("tie_word_embeddings", true);
    m.attention_bias = c.flag_or("attention_bias", false);
    m.attention_out_bias = m.attention_bias;
    m.norms_per_layer = 4;
    m.qk_norm = true;
    const int pattern =
        c.size_or({"sliding_window_pattern", "_sliding_window_pattern"}, kMaxLayers, 6);
    read_window(c, m, c.size_or({"sliding_window"}, kMaxPositions, 4096),
                m.layers - m.layers / pattern);
}

/// Phi-3 and Phi-4: fused projections, no biases.
void phi3(FamilyConfig& c, Model& m) {
    read_llama_core(c, m);
    m.tied_embeddings = c.flag_or("tie_word_embeddings", false);
    read_window(c, m, c.optional_size({"sliding_window"}, kMaxPositions), m.layers);
}

}  // namespace

void read_llama_core(FamilyConfig& c, Model& m) {
    m.layers = c.size({"num_hidden_layers"}, kMaxLayers);
    m.hidden = c.size({"hidden_size"}, kMaxWidth);
    m.heads = c.size({"num_attention_heads"}, kMaxHeads);
    m.kv_heads = c.size_or({"num_key_value_heads"}, kMaxHeads, m.heads);
    m.ffn_hidden = c.size({"intermediate_size"}, kMaxWidth);
    m.vocab = c.size({"vocab_size"}, kMaxVocab);
    m.max_positions = c.size_or({"max_position_embeddings"}, kMaxPositions, 2048);
    m.gated_mlp = true;
    m.norm = Norm::rms_norm;
    read_head_dim(c, m);
}

void read_head_dim(FamilyConfig& c, Model& m) {
    if (const std::optional<int> given = c.optional_size({"head_dim"}, kMaxWidth)) {
        m.head_dim = *given;
        return;
    }
    if (m.heads <= 0 || m.hidden <= 0) return;  // already diagnosed
    if (m.hidden % m.heads != 0) {
        c.error({"hidden_size", "n_embd", "d_model", "hidden"},
                std::to_string(m.heads) + " heads do not divide hidden size " +
                    std::to_string(m.hidden),
                "without head_dim each head has hidden/heads elements; correct one of them or add "
                "head_dim");
        return;
    }
    m.head_dim = m.hidden / m.heads;
}

std::vector<Family> llama_families() {
    return {{"llama", llama},
            {"mistral", mistral},
            {"qwen2", qwen2},
            {"qwen3", qwen3},
            {"gemma", gemma},
            {"gemma2", gemma2},
            {"gemma3_text", gemma3_text},
            {"phi3", phi3}};
}

}  // namespace trainyard::workload
