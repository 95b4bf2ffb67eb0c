// The exact parameter count of a transformer, place by place.
//
// Every tensor of the published checkpoints is one term below, so a count can be checked by hand:
//   attention  h*q + 2*h*kv + q*h  with q = heads*head_dim, kv = kv_heads*head_dim, plus biases
//   MLA        DeepSeek-V2 (https://arxiv.org/abs/2405.04434, section 2.1): low-rank q and kv with
//   their norms MLP        two or three h*f matrices, plus biases MoE        experts MLPs, a router
//   of experts*h, optional shared expert and its gate norms      h each, twice that if the norm has
//   a bias
// One template serves the exact integers and the floating-point estimate that bounds untrusted
// shapes.

#include "trainyard/workload/model.hpp"

namespace trainyard::workload {
namespace {

template <typename N>
struct Places {
    N embedding = 0;
    N attention = 0;
    N norms = 0;
    N dense_mlp = 0;
    N router = 0;
    N routed_expert = 0;
    N shared_expert = 0;
    N head = 0;
    N final_norm = 0;
    N total = 0;
    N active = 0;
};

template <typename N>
N norm_size(const Model& m, N width) {
    return m.norm == Norm::layer_norm && m.norm_bias ? 2 * width : width;
}

template <typename N>
N latent_attention(const Model& m, const LatentAttention& a) {
    const N h = m.hidden;
    const N heads = m.heads;
    const N q_out = heads * (N(a.qk_nope_head_dim) + N(a.qk_rope_head_dim));
    const N q_rank = a.q_lora_rank;
    const N kv_rank = a.kv_lora_rank;
    const N kv_in = kv_rank + N(a.qk_rope_head_dim);
    N sum = q_rank > 0 ? h * q_rank + q_rank + q_rank * q_out : h * q_out;
    sum += h * kv_in + kv_rank;
    sum += kv_rank * heads * (N(a.qk_nope_head_dim) + N(a.v_head_dim));
    sum += heads * N(a.v_head_dim) * h;
    if (m.attention_bias) sum += (q_rank > 0 ? q_rank : N(0)) + kv_in;
    if (m.attention_out_bias) sum += h;
    return sum;
}

template <typename N>
N attention(const Model& m) {
    if (m.mla) return latent_attention<N>(m, *m.mla);
    const N h = m.hidden;
    const N q = N(m.heads) * N(m.head_dim);
    const N kv = N(m.kv_heads) * N(m.head_dim);
    N sum = 2 * h * q + 2 * h * kv;
    if (m.attention_bias) sum += q + 2 * kv;
    if (m.attention_out_bias) sum += h;
    if (m.qk_norm) sum += 2 * norm_size<N>(m, m.head_dim);
    if (m.attention_sinks) sum += m.heads;
    return sum;
}

template <typename N>
N mlp(const Model& m, N width) {
    const N h = m.hidden;
    const N inner = m.gated_mlp ? 2 * width : width;
    N sum = h * inner + width * h;
    if (m.mlp_bias) sum += inner + h;
    return sum;
}

template <typename N>
N embedding(const Model& m) {
    const N h = m.hidden;
    const N width = m.embedding_dim > 0 ? N(m.embedding_dim) : h;
    N sum = N(m.vocab) * width;
    if (width != h) sum += 2 * width * h;  // projections in and out, no bias
    if (m.patch_size > 0) {
        const N side = N(m.image_size) / N(m.patch_size);
        const N patch = N(m.channels) * N(m.patch_size) * N(m.patch_size);
        sum += patch * h + h;  // the patch convolution and its bias
        sum += h + (side * side + 1) *
                       h;  // class token; one position per patch and for the class token
    }
    if (m.learned_positions) sum += (N(m.max_positions) + N(m.position_offset)) * h;
    sum += N(m.token_types) * h;
    if (m.embedding_norm) sum += norm_size<N>(m, h);
    return sum;
}

template <typename N>
N head(const Model& m) {
    const N h = m.hidden;
    const N width = m.embedding_dim > 0 ? N(m.embedding_dim) : h;
    N sum = 0;
    if (!m.tied_embeddings) sum += N(m.vocab) * width;
    if (m.head_bias) sum += m.vocab;
    if (m.mlm_head) sum += h * h + h + norm_size<N>(m, h) + N(m.vocab);
    if (m.pooler) sum += h * h + h;
    if (m.classes > 0) sum += N(m.classes) * h + N(m.classes);
    return sum;
}

template <typename N>
Places<N> count(const Model& m) {
    Places<N> p;
    if (m.opaque_params) {
        p.total = static_cast<N>(*m.opaque_params);
        p.active = p.total;
        return p;
    }
    p.embedding = embedding<N>(m);
    p.attention = attention<N>(m);
    p.norms = N(m.norms_per_layer) * norm_size<N>(m, m.hidden);
    p.dense_mlp = mlp<N>(m, m.ffn_hidden);
    p.head = head<N>(m);
    p.final_norm = m.final_norm ? norm_size<N>(m, m.hidden) : N(0);
    N moe_layer = 0;
    N moe_active = 0;
    if (m.moe) {
        const N experts = m.moe->experts;
        p.router = experts * N(m.hidden);
        if (m.moe->router_bias) p.router += experts;
        if (m.moe->shared_gate) p.router += m.hidden;
        p.routed_expert = mlp<N>(m, m.moe->expert_ffn_hidden);
        p.shared_expert = m.moe->shared_ffn_hidden > 0 ? mlp<N>(m, m.moe->shared_ffn_hidden) : N(0);
        moe_layer = p.router + p.shared_expert + experts * p.routed_expert;
        moe_active = p.router + p.shared_expert + N(m.moe->experts_per_token) * p.routed_expert;
    }
    const N shared = p.embedding + p.head + p.final_norm + N(m.layers) * (p.attention + p.norms) +
                     N(m.dense_mlp_layers()) * p.dense_mlp;
    p.total = shared + N(m.moe_layers()) * moe_layer;
    p.active = shared + N(m.moe_layers()) * moe_active;
    return p;
}

}  // namespace

ParameterCount count_parameters(const Model& m) {
    const Places<std::int64_t> p = count<std::int64_t>(m);
    return {.embedding = p.embedding,
            .attention = p.attention,
            .norms = p.norms,
            .dense_mlp = p.dense_mlp,
            .router = p.router,
            .routed_expert = p.routed_expert,
            .shared_expert = p.shared_expert,
            .head = p.head,
            .final_norm = p.final_norm,
            .total = p.total,
            .active = p.active};
}

double estimate_parameters(const Model& m) { return count<double>(m).total; }

namespace {

double attention_adapters(const Model& m) {
    const double h = m.hidden;
    if (m.mla) {
        const LatentAttention& a = *m.mla;
        const double qk = static_cast<double>(a.qk_nope_head_dim) + a.qk_rope_head_dim;
        const double query = a.q_lora_rank > 0
                                 ? (h + a.q_lora_rank) + (a.q_lora_rank + m.heads * qk)
                                 : h + m.heads * qk;
        const double latent = h + a.kv_lora_rank + a.qk_rope_head_dim;
        const double unpacked = static_cast<double>(a.qk_nope_head_dim) + a.v_head_dim;
        const double out = m.heads * static_cast<double>(a.v_head_dim) + h;
        return query + latent + (a.kv_lora_rank + m.heads * unpacked) + out;
    }
    const double q = static_cast<double>(m.heads) * m.head_dim;
    const double kv = static_cast<double>(m.kv_heads) * m.head_dim;
    return 2 * (h + q) + 2 * (h + kv);
}

double mlp_adapters(const Model& m, double width) {
    return width > 0 ? (m.gated_mlp ? 3.0 : 2.0) * (m.hidden + width) : 0;
}

}  // namespace

AdapterCount count_adapters(const Model& m, int rank) {
    AdapterCount c;
    c.attention = rank * attention_adapters(m);
    c.dense_mlp = rank * mlp_adapters(m, m.ffn_hidden);
    c.total = m.layers * c.attention + m.dense_mlp_layers() * c.dense_mlp;
    if (!m.moe) return c;
    c.routed_expert = rank * mlp_adapters(m, m.moe->expert_ffn_hidden);
    c.shared_expert = rank * mlp_adapters(m, m.moe->shared_ffn_hidden);
    c.total += m.moe_layers() * (m.moe->experts * c.routed_expert + c.shared_expert);
    return c;
}

std::string adapted_modules(const Model& m) {
    if (!m.moe) return "attention and MLP of every layer";
    return "attention and MLPs of every layer, each of " + std::to_string(m.moe->experts) +
           " experts its own" + (m.moe->shared_ffn_hidden > 0 ? " and the shared one" : "");
}

}  // namespace trainyard::workload
