#include "model_json.hpp"

namespace trainyard::plan {

using doc::Node;

namespace {

void add_switches(Node& n, const workload::Model& m) {
    n.set("causal", m.causal)
        .set("gated", m.gated_mlp)
        .set("tied_embeddings", m.tied_embeddings)
        .set("learned_positions", m.learned_positions)
        .set("parallel_block", m.parallel_block);
    n.set("attention_bias", m.attention_bias).set("mlp_bias", m.mlp_bias).set("qk_norm", m.qk_norm);
    n.set("norm", m.norm == workload::Norm::rms_norm ? "rms" : "layer");
}

void add_experts(Node& n, const workload::MixtureOfExperts& e) {
    n.set("experts", e.experts)
        .set("experts_per_token", e.experts_per_token)
        .set("expert_ffn", e.expert_ffn_hidden)
        .set("shared_ffn", e.shared_ffn_hidden)
        .set("dense_layers", e.dense_layers);
}

void add_latent(Node& n, const workload::LatentAttention& a) {
    n.set("q_lora_rank", a.q_lora_rank)
        .set("kv_lora_rank", a.kv_lora_rank)
        .set("qk_nope_head_dim", a.qk_nope_head_dim)
        .set("qk_rope_head_dim", a.qk_rope_head_dim)
        .set("v_head_dim", a.v_head_dim);
}

}  // namespace

Node model_json(const workload::Model& m) {
    Node n = Node::map();
    n.set("name", m.name).set("family", m.family).set("origin", m.origin);
    if (m.opaque_params) return n;
    n.set("layers", m.layers).set("hidden", m.hidden).set("heads", m.heads);
    n.set("kv_heads", m.kv_heads).set("head_dim", m.head_dim).set("ffn", m.ffn_hidden);
    n.set("vocab", m.vocab).set("max_positions", m.max_positions);
    add_switches(n, m);
    if (m.moe) add_experts(n, *m.moe);
    if (m.mla) add_latent(n, *m.mla);
    if (m.sliding_window)
        n.set("sliding_window", *m.sliding_window).set("sliding_layers", m.sliding_layers);
    return n;
}

}  // namespace trainyard::plan
