// Linear layers: 2 FLOP per weight and token forward, 4 backward (Narayanan et al., arXiv
// 2104.04473, sec. 5.1). Attention: 2 s (qk + v) per head and token forward for the full score
// matrix; backward twice that.

#include "flops.hpp"

#include <algorithm>

namespace trainyard::perf {

using workload::Method;
using workload::Model;
using workload::Recompute;
using workload::Training;

namespace {

double attention_layer_weights(const Model& m) {
    const double h = m.hidden;
    if (m.mla) {
        const auto& a = *m.mla;
        const double qk = a.qk_nope_head_dim + a.qk_rope_head_dim;
        const double q = a.q_lora_rank > 0 ? a.q_lora_rank * (h + m.heads * qk) : h * m.heads * qk;
        return q + h * (a.kv_lora_rank + a.qk_rope_head_dim) +
               double(a.kv_lora_rank) * m.heads * (a.qk_nope_head_dim + a.v_head_dim) +
               double(m.heads) * a.v_head_dim * h;
    }
    return h * m.head_dim * (2.0 * m.heads + 2.0 * m.kv_heads);
}

/// Weights a token is multiplied with in the MLPs of all layers.
double mlp_weights(const Model& m) {
    const double matrices = m.gated_mlp ? 3 : 2;
    double total = matrices * m.hidden * double(m.ffn_hidden) * m.dense_mlp_layers();
    if (m.moe) {
        const double active =
            double(m.moe->expert_ffn_hidden) * m.moe->experts_per_token + m.moe->shared_ffn_hidden;
        total +=
            (matrices * m.hidden * active + double(m.hidden) * m.moe->experts) * m.moe_layers();
    }
    return total;
}

/// Score-and-value FLOP per token, forward, all layers, with the full matrix.
double attention_flop(const Model& m, double sequence) {
    const double dims = m.mla
                            ? m.mla->qk_nope_head_dim + m.mla->qk_rope_head_dim + m.mla->v_head_dim
                            : 2.0 * m.head_dim;
    const double windowed = m.sliding_window ? m.sliding_layers : 0;
    const double window =
        m.sliding_window ? std::min<double>(*m.sliding_window, sequence) : sequence;
    return 2.0 * m.heads * dims * ((m.layers - windowed) * sequence + windowed * window);
}

}  // namespace

StepFlop step_flop(const Model& m, const Training& t) {
    if (m.opaque_forward_flop_per_sample) {
        const double all = 3.0 * *m.opaque_forward_flop_per_sample * t.global_batch;
        return {all * kFlop, all * kFlop, all * kFlop};
    }
    const double tokens = double(t.global_batch) * t.sequence;
    const double layers = attention_layer_weights(m) * m.layers + mlp_weights(m);
    const double head = double(m.hidden) * m.vocab * (m.causal ? 1.0 : 0.15);
    const double attention = attention_flop(m, t.sequence);
    const bool frozen = t.method == Method::lora || t.method == Method::qlora;
    const double linear_factor = frozen ? 4 : 6;
    const double linear = linear_factor * (layers + head);
    StepFlop f;
    f.full = tokens * (linear + 3 * attention) * kFlop;
    f.causal = tokens * (linear + 3 * attention * (m.causal ? 0.5 : 1.0)) * kFlop;
    double again = 0;
    if (t.recompute == Recompute::full) again = 2 * layers + attention;
    if (t.recompute == Recompute::selective) again = attention;
    f.hardware = f.full + tokens * again * kFlop;
    return f;
}

}  // namespace trainyard::perf
