// Decoders with LayerNorm and a plain MLP: GPT-2, GPT-J, GPT-NeoX, BLOOM, Falcon, OPT, MPT, Phi.
// Defaults are those of the Transformers configuration classes
// (transformers/models/*/configuration_*.py, 4.57).

#include "hf_family.hpp"

namespace trainyard::workload {
namespace {

void set_all_biases(Model& m, bool on) {
    m.attention_bias = on;
    m.attention_out_bias = on;
    m.mlp_bias = on;
}

/// n_embd, n_layer, n_head of the GPT-2 naming; every head has its own keys and values.
void read_gpt_core(FamilyConfig& c, Model& m) {
    m.layers = c.size({"n_layer", "num_hidden_layers", "n_layers"}, kMaxLayers);
    m.hidden = c.size({"n_embd", "hidden_size", "n_embed", "d_model"}, kMaxWidth);
    m.heads = c.size({"n_head", "num_attention_heads", "n_heads"}, kMaxHeads);
    m.vocab = c.size({"vocab_size"}, kMaxVocab);
    m.kv_heads = m.heads;
    m.norm = Norm::layer_norm;
    read_head_dim(c, m);
}

void gpt2(FamilyConfig& c, Model& m) {
    read_gpt_core(c, m);
    m.max_positions =
        c.size_or({"n_positions", "n_ctx", "max_position_embeddings"}, kMaxPositions, 1024);
    m.ffn_hidden = c.size_or({"n_inner"}, kMaxWidth, 4 * m.hidden);
    m.learned_positions = true;
    m.tied_embeddings = c.flag_or("tie_word_embeddings", true);
    set_all_biases(m, true);
}

void gptj(FamilyConfig& c, Model& m) {
    read_gpt_core(c, m);
    m.max_positions = c.size_or({"n_positions", "max_position_embeddings"}, kMaxPositions, 2048);
    m.ffn_hidden = c.size_or({"n_inner"}, kMaxWidth, 4 * m.hidden);
    m.tied_embeddings = c.flag_or("tie_word_embeddings", false);
    m.parallel_block = true;
    m.norms_per_layer = 1;
    m.mlp_bias = true;
    m.head_bias = true;
}

void gpt_neox(FamilyConfig& c, Model& m) {
    m.layers = c.size({"num_hidden_layers"}, kMaxLayers);
    m.hidden = c.size({"hidden_size"}, kMaxWidth);
    m.heads = c.size({"num_attention_heads"}, kMaxHeads);
    m.kv_heads = m.heads;
    m.ffn_hidden = c.size({"intermediate_size"}, kMaxWidth);
    m.vocab = c.size({"vocab_size"}, kMaxVocab);
    m.max_positions = c.size_or({"max_position_embeddings"}, kMaxPositions, 2048);
    m.norm = Norm::layer_norm;
    m.tied_embeddings = c.flag_or("tie_word_embeddings", false);
    m.parallel_block = c.flag_or("use_parallel_residual", true);
    set_all_biases(m, true);
    m.attention_bias = c.flag_or("attention_bias", true);
    m.attention_out_bias = m.attention_bias;
    read_head_dim(c, m);
}

/// BLOOM has ALiBi, so no position table; seq_length is the length it was trained at.
void bloom(FamilyConfig& c, Model& m) {
    read_gpt_core(c, m);
    m.max_positions = c.size_or({"seq_length"}, kMaxPositions, 2048);
    m.ffn_hidden = 4 * m.hidden;
    m.embedding_norm = true;
    m.tied_embeddings = c.flag_or("tie_word_embeddings", true);
    set_all_biases(m, true);
}

/// Falcon-7B: one norm, one KV head. 40B and 180B (new_decoder_architecture): two norms,
/// num_kv_heads groups.
void falcon(FamilyConfig& c, Model& m) {
    read_gpt_core(c, m);
    const bool grouped = c.flag_or("new_decoder_architecture", false);
    const bool multi_query = c.flag_or("multi_query", true);
    m.parallel_block = grouped || c.flag_or("parallel_attn", true);
    const int kv = c.size_or({"num_kv_heads", "n_head_kv"}, kMaxHeads, m.heads);
    m.kv_heads = grouped || !multi_query ? kv : 1;
    const int parallel_norms = c.size_or({"num_ln_in_parallel_attn"}, 2, grouped ? 2 : 1);
    m.norms_per_layer = m.parallel_block ? parallel_norms : 2;
    m.ffn_hidden = c.size_or({"ffn_hidden_size"}, kMaxWidth, 4 * m.hidden);
    m.max_positions = c.size_or({"max_position_embeddings"}, kMaxPositions, 2048);
    m.tied_embeddings = c.flag_or("tie_word_embeddings", true);
    set_all_biases(m, c.flag_or("bias", false));
}

void opt(FamilyConfig& c, Model& m) {
    m.layers = c.size({"num_hidden_layers"}, kMaxLayers);
    m.hidden = c.size({"hidden_size"}, kMaxWidth);
    m.heads = c.size({"num_attention_heads"}, kMaxHeads);
    m.kv_heads = m.heads;
    m.ffn_hidden = c.size({"ffn_dim"}, kMaxWidth);
    m.vocab = c.size({"vocab_size"}, kMaxVocab);
    m.max_positions = c.size_or({"max_position_embeddings"}, kMaxPositions, 2048);
    m.learned_positions = true;
    m.position_offset = 2;
    m.norm = Norm::layer_norm;
    m.final_norm =
        c.flag_or("do_layer_norm_before", true) && !c.flag_or("_remove_final_layer_norm", false);
    m.tied_embeddings = c.flag_or("tie_word_embeddings", true);
    const int width = c.size_or({"word_embed_proj_dim"}, kMaxWidth, m.hidden);
    if (width != m.hidden) m.embedding_dim = width;
    set_all_biases(m, c.flag_or("enable_bias", true));
    read_head_dim(c, m);
}

/// attn_config is a map of its own; a grouped attention names its KV heads there.
void read_mpt_attention(const doc::Node* attention, Model& m, bool& alibi) {
    if (attention == nullptr || !attention->is(doc::Node::Kind::map)) return;
    if (const doc::Node* a = attention->find("alibi");
        a != nullptr && a->is(doc::Node::Kind::boolean)) {
        alibi = a->as_bool();
    }
    const doc::Node* kv = attention->find("kv_n_heads");
    if (kv != nullptr && kv->is(doc::Node::Kind::integer) && kv->as_integer() >= 1 &&
        kv->as_integer() <= m.heads) {
        m.kv_heads = static_cast<int>(kv->as_integer());
    }
}

void mpt(FamilyConfig& c, Model& m) {
    read_gpt_core(c, m);
    bool alibi = true;
    read_mpt_attention(c.node("attn_config"), m, alibi);
    m.max_positions = c.size_or({"max_seq_len"}, kMaxPositions, 2048);
    m.learned_positions = !alibi && c.flag_or("learned_pos_emb", true);
    m.ffn_hidden = m.hidden * c.size_or({"expansion_ratio"}, 64, 4);
    m.tied_embeddings = c.flag_or("tie_word_embeddings", true);
    const bool biases = !c.flag_or("no_bias", true);
    m.norm_bias = biases;
    set_all_biases(m, biases);
}

/// Phi-1, 1.5 and 2. The optional norm on q and k is over one head and has a bias.
void phi(FamilyConfig& c, Model& m) {
    read_llama_core(c, m);
    m.gated_mlp = false;
    m.norm = Norm::layer_norm;
    m.norms_per_layer = 1;
    m.parallel_block = true;
    m.tied_embeddings = c.flag_or("tie_word_embeddings", false);
    m.head_bias = true;
    m.qk_norm = c.flag_or("qk_layernorm", false);
    set_all_biases(m, true);
}

}  // namespace

std::vector<Family> classic_families() {
    return {{"gpt2", gpt2},     {"gptj", gptj}, {"gpt_neox", gpt_neox}, {"bloom", bloom},
            {"falcon", falcon}, {"opt", opt},   {"mpt", mpt},           {"phi", phi}};
}

}  // namespace trainyard::workload
