// A layer is a list of kernels. GEMMs come from their shapes, attention from its kernel kind, the
// rest streams bytes through memory. The host launches every kernel: where that is slower than the
// device, the difference is idle time. Sources: Korthikanti et al. (arXiv 2205.05198) for the
// operators and the TP collectives of a Megatron layer.

#include "layer.hpp"

#include <algorithm>
#include <cmath>

#include "attention.hpp"
#include "gemm.hpp"

namespace trainyard::perf {

using workload::Method;
using workload::Model;

PassCost& PassCost::operator+=(const PassCost& o) {
    gemm += o.gemm;
    attention += o.attention;
    memory_bound += o.memory_bound;
    host += o.host;
    tensor_comm += o.tensor_comm;
    expert_comm += o.expert_comm;
    context_comm += o.context_comm;
    return *this;
}

PassCost operator*(PassCost c, double s) {
    c.gemm *= s;
    c.attention *= s;
    c.memory_bound *= s;
    c.host *= s;
    c.tensor_comm *= s;
    c.expert_comm *= s;
    c.context_comm *= s;
    return c;
}

LayerShape layer_shape(const workload::Training& t) {
    return {t.parallel.tensor,
            t.parallel.context,
            t.parallel.expert,
            t.parallel.expert_tensor,
            t.micro_batch,
            t.sequence,
            t.parallel.sequence_parallel,
            t.attention,
            t.method,
            t.lora ? t.lora->rank : 0};
}

namespace {

bool frozen_base(Method m) { return m == Method::lora || m == Method::qlora; }

/// Accumulates the kernels of one layer.
class LayerBuilder {
  public:
    LayerBuilder(const LayerShape& s, const Device& d)
        : d_(d),
          frozen_(frozen_base(s.method)),
          quantised_(s.method == Method::qlora),
          rank_(s.lora_rank),
          tokens_(static_cast<double>(s.micro_batch) * s.sequence / s.context) {}

    double tokens() const { return tokens_; }

    void linear(double in, double out) { linear(tokens_, in, out, 1); }

    /// `quantised_inside`: the operands are quantised by the kernels that write them.
    void linear(double rows, double in, double out, double batch, bool quantised_inside = false) {
        const LinearTime t = linear_time(d_, rows, in, out, batch);
        cost_.forward.gemm += t.forward;
        cost_.backward.gemm += frozen_ ? t.input_grad : t.backward();
        kernels_forward_ += 1;
        kernels_backward_ += frozen_ ? 1 : 2;
        if (!frozen_) accumulate(in * out * batch);
        if (d_.fp8 && !quantised_inside) cast(rows * batch, in, out);
        if (frozen_) adapter(rows, in, out, batch);
        if (quantised_) dequantise(in * out * batch);
    }

    /// Kernels launched beyond those counted with the work; `eager` = the layer cannot be captured
    /// in a graph.
    void launches(double forward, double backward) {
        kernels_forward_ += forward;
        kernels_backward_ += backward;
        eager_ = true;
    }

    /// Streaming kernels over `elements`, read-plus-write `passes` each, forward; backward moves
    /// `ratio` as much.
    void stream(double elements, double passes, double kernels, double ratio = 2.0) {
        const Seconds t =
            elements * passes * d_.element_bytes * d_.traffic * kByte / d_.memory_rate;
        const Seconds gaps = kernels * d_.kernels * d_.kernel_gap;
        cost_.forward.memory_bound += t + gaps;
        cost_.backward.memory_bound += ratio * t + ratio * gaps;
        kernels_forward_ += kernels * d_.kernels;
        kernels_backward_ += ratio * kernels * d_.kernels;
    }

    void attention(AttentionTime t, double kernels_forward, double kernels_backward) {
        cost_.forward.attention += t.forward;
        cost_.backward.attention += t.backward;
        kernels_forward_ += kernels_forward;
        kernels_backward_ += kernels_backward;
    }

    /// Ranks of both CPU sockets meet at a blocking collective: the launches of the two halves
    /// drift apart.
    void cross_sockets(double collectives) {
        host_waits_ += collectives * d_.constants->cross_socket_us * kMicrosecond * d_.host_scale;
    }
    /// Starting a collective (events, stream waits, the library's own launch), each way.
    void start_collectives(double collectives) {
        host_waits_ +=
            collectives * d_.constants->collective_host_us * kMicrosecond * d_.host_scale;
    }
    void tensor_comm(Seconds forward, Seconds backward) {
        cost_.forward.tensor_comm += forward;
        cost_.backward.tensor_comm += backward;
    }
    void expert_comm(Seconds each_way) {
        cost_.forward.expert_comm += each_way;
        cost_.backward.expert_comm += each_way;
    }
    void context_comm(Seconds forward, Seconds backward) {
        cost_.forward.context_comm += forward;
        cost_.backward.context_comm += backward;
    }

    LayerCost finish() {
        const GlobalConstants& c = *d_.constants;
        const Seconds launch = eager_ ? d_.moe_host_per_kernel : d_.host_per_kernel;
        cost_.forward.host = kernels_forward_ * launch + host_waits_;
        cost_.backward.host = kernels_backward_ * launch + host_waits_;
        cost_.full_recompute = cost_.forward;
        // Activation checkpointing saves and restores random-number state around every layer.
        cost_.full_recompute.host += c.checkpoint_host_us * kMicrosecond * d_.host_scale;
        return cost_;
    }

  private:
    /// Quantise (and transpose) both operands: read 16 bit, write 8 bit twice; backward does it for
    /// the gradient.
    void cast(double rows, double in, double out) {
        const double scale = d_.constants->fp8_cast_traffic * kByte / d_.memory_rate / kSecond;
        cost_.forward.memory_bound += rows * in * 4 * scale * kSecond;
        cost_.backward.memory_bound += rows * out * 4 * scale * kSecond;
        kernels_forward_ += 1;
        kernels_backward_ += 1;
    }
    /// The weight gradient is added to that of the micro-batches before: read and written once, by
    /// the epilogue of its product, which nothing hides.
    void accumulate(double weights) {
        cost_.backward.memory_bound += weights * 2 * d_.gradient_bytes * kByte / d_.memory_rate;
    }
    void adapter(double rows, double in, double out, double batch) {
        const LinearTime down = linear_time(d_, rows, in, rank_, batch);
        const LinearTime up = linear_time(d_, rows, rank_, out, batch);
        cost_.forward.gemm += down.forward + up.forward;
        cost_.backward.gemm += down.backward() + up.backward();
        kernels_forward_ += 3;
        kernels_backward_ += 6;
    }
    /// 4-bit weights become 16-bit before each product: read half a byte, write two.
    void dequantise(double weights) {
        const Seconds t = weights * 2.5 * kByte / d_.memory_rate + d_.kernel_gap;
        cost_.forward.memory_bound += t;
        cost_.backward.memory_bound += t;
        kernels_forward_ += 1;
        kernels_backward_ += 1;
    }

    const Device& d_;
    bool frozen_, quantised_;
    double rank_;
    double tokens_;
    LayerCost cost_;
    Seconds host_waits_;
    bool eager_ = false;
    double kernels_forward_ = 0;
    double kernels_backward_ = 0;
};

double kv_width(const Model& m, int tensor) {
    return std::max(1.0, static_cast<double>(m.kv_heads) / tensor) * m.head_dim;
}

void attention_projections(LayerBuilder& b, const Model& m, const LayerShape& s) {
    const double t = s.tensor;
    if (m.mla) {
        const double qk = m.mla->qk_nope_head_dim + m.mla->qk_rope_head_dim;
        if (m.mla->q_lora_rank > 0) {
            b.linear(m.hidden, m.mla->q_lora_rank);
            b.linear(m.mla->q_lora_rank, m.heads * qk / t);
        } else {
            b.linear(m.hidden, m.heads * qk / t);
        }
        b.linear(m.hidden, m.mla->kv_lora_rank + m.mla->qk_rope_head_dim);
        b.linear(m.mla->kv_lora_rank,
                 m.heads * double(m.mla->qk_nope_head_dim + m.mla->v_head_dim) / t);
        b.linear(m.heads * double(m.mla->v_head_dim) / t, m.hidden);
        b.stream(b.tokens() * m.heads * qk / t, 6,
                 6);  // latent norms, rotary part, concatenations of q and k
        return;
    }
    const double q = static_cast<double>(m.heads) * m.head_dim / t;
    b.linear(m.hidden, q + 2 * kv_width(m, s.tensor));
    b.linear(q, m.hidden);
    b.stream(b.tokens() * (q + kv_width(m, s.tensor)), 2,
             1);  // bias or rotary embedding of q and k
}

void attention_core(LayerBuilder& b, const Model& m, const LayerShape& s, const Device& d) {
    const bool fused = s.attention == workload::AttentionKernel::flash;
    AttentionTime t = attention_time(m, s, 0, d);
    if (m.sliding_window && m.sliding_layers > 0) {
        const AttentionTime w = attention_time(m, s, *m.sliding_window, d);
        const double share = static_cast<double>(m.sliding_layers) / m.layers;
        t.forward = t.forward * (1 - share) + w.forward * share;
        t.backward = t.backward * (1 - share) + w.backward * share;
    }
    const double separate = fused || has_fused_softmax(m, s) ? 0 : 6;
    b.attention(t, fused ? 1 : 5 + separate, fused ? 3 : 9 + 2 * separate);
}

void dense_mlp(LayerBuilder& b, const Model& m, double width, double tokens) {
    b.linear(m.hidden, m.gated_mlp ? 2 * width : width);
    b.linear(width, m.hidden);
    b.stream(tokens * width, m.gated_mlp ? 3 : 2, 1, m.gated_mlp ? 1.7 : 1.5);
}

/// Router, permutation, grouped GEMMs over the local experts, and the optional shared expert.
void moe_mlp(LayerBuilder& b, const Model& m, const LayerShape& s, const Device& d) {
    const workload::MixtureOfExperts& moe = *m.moe;
    const double width = static_cast<double>(moe.expert_ffn_hidden) / s.expert_tensor;
    const double local = static_cast<double>(moe.experts) / s.expert;
    // Tokens are already split by TP when experts are not (expert_tensor < tensor): each device
    // routes its own share.
    const double own = b.tokens() * s.expert_tensor / s.tensor;
    const double routed = own * moe.experts_per_token * d.constants->expert_imbalance;
    const double rows = std::max(1.0, routed / local);
    b.linear(own, m.hidden, moe.experts, 1);
    b.linear(rows, m.hidden, m.gated_mlp ? 2 * width : width, local, d.fused_experts);
    b.linear(rows, width, m.hidden, local, d.fused_experts);
    const double per_expert = local * d.constants->expert_kernels;
    b.launches(2 * per_expert, 4 * per_expert);
    if (!d.fused_experts) b.stream(routed * width, m.gated_mlp ? 3 : 2, 1, m.gated_mlp ? 1.7 : 1.5);
    b.stream(routed * m.hidden, 4, 6, 1.0);  // permute and unpermute, read and write each
    b.stream(own * moe.experts, 6, 6, 1.0);  // softmax, top-k, auxiliary loss
    if (moe.shared_ffn_hidden > 0)
        dense_mlp(b, m, static_cast<double>(moe.shared_ffn_hidden) / s.tensor, b.tokens());
}

void norms_and_residuals(LayerBuilder& b, const Model& m, const LayerShape& s) {
    const double share = s.sequence_parallel ? 1.0 / s.tensor : 1.0;
    const double elements = b.tokens() * m.hidden * share;
    b.stream(elements, 2.0 * m.norms_per_layer, m.norms_per_layer);
    b.stream(elements, 3.0 * 2, 2,
             1.0);  // bias, dropout and residual: two reads, one write, twice a layer
}

void tensor_collectives(LayerBuilder& b, const Model& m, const LayerShape& s, const Device& d,
                        const Network& n, const Stack& stack) {
    if (s.tensor <= 1) return;
    const Group g = make_group(s.tensor, 1, n.per_node);
    const Bytes size = b.tokens() * m.hidden * d.element_bytes * kByte;
    const double times = m.parallel_block ? 1 : 2;
    const double hidden_share = stack.tensor_overlap ? d.constants->tensor_overlap : 0;
    Seconds once = s.sequence_parallel ? all_gather(n, g, size) + reduce_scatter(n, g, size)
                                       : all_reduce(n, g, size);
    once *= 1 - hidden_share;
    // With sequence parallelism backward gathers the layer input once more for the weight gradient
    // (overlapped).
    b.tensor_comm(times * once, times * once);
    b.start_collectives(times * (s.sequence_parallel ? 2 : 1));
    // Eight-accelerator servers have two sockets with half of the accelerators each.
    if (n.per_node >= 8 && 2 * s.tensor > n.per_node) b.cross_sockets(times);
}

void context_collectives(LayerBuilder& b, const Model& m, const LayerShape& s, const Device& d,
                         const Network& n) {
    if (s.context <= 1) return;
    const double kv = m.mla
                          ? m.heads * double(m.mla->qk_nope_head_dim + m.mla->v_head_dim) / s.tensor
                          : 2 * kv_width(m, s.tensor);
    const Bytes block = b.tokens() * kv * d.element_bytes * kByte;
    const bool crosses = s.tensor * s.context > n.per_node;
    const Seconds hop =
        point_to_point(n, crosses ? Hop::across_nodes : Hop::inside_node, n.per_node, block);
    const Seconds ring = (s.context - 1.0) * hop * (1 - d.constants->context_overlap);
    b.context_comm(ring, 2.0 * ring);
}

void expert_collectives(LayerBuilder& b, const Model& m, const LayerShape& s, const Device& d,
                        const Network& n, const Stack& stack) {
    if (s.expert <= 1) return;
    const Group g = make_group(s.expert, s.expert_tensor, n.per_node);
    const double own = b.tokens() * s.expert_tensor / s.tensor;
    const bool overlapped = stack.expert_overlap == Overlap::always ||
                            (stack.expert_overlap == Overlap::across_nodes && g.nodes() > 1);
    const double shown = overlapped ? 1 - d.constants->expert_overlap : 1;
    const ExpertTraffic traffic{own, m.hidden * d.element_bytes * kByte, m.moe->experts_per_token,
                                stack.expert_once_per_node};
    const Seconds once = all_to_all(n, g, traffic) * d.constants->expert_imbalance * shown;
    b.expert_comm(2.0 * once);
}

}  // namespace

LayerCost layer_cost(const Model& m, LayerKind kind, const LayerShape& s, const Device& d,
                     const Network& n, const Stack& stack) {
    LayerBuilder b(s, d);
    norms_and_residuals(b, m, s);
    attention_projections(b, m, s);
    attention_core(b, m, s, d);
    if (kind == LayerKind::moe) {
        moe_mlp(b, m, s, d);
        expert_collectives(b, m, s, d, n, stack);
    } else {
        dense_mlp(b, m, static_cast<double>(m.ffn_hidden) / s.tensor, b.tokens());
    }
    tensor_collectives(b, m, s, d, n, stack);
    context_collectives(b, m, s, d, n);
    LayerCost cost = b.finish();
    if (stack.selective_gemm > 0) {
        // Per-operator checkpointing: streaming kernels and a share of the products run again.
        cost.selective_recompute.memory_bound = cost.forward.memory_bound;
        cost.selective_recompute.gemm = cost.forward.gemm * stack.selective_gemm;
    }
    // Megatron repeats the attention core; a fused kernel recomputes its scores anyway.
    if (s.attention == workload::AttentionKernel::unfused)
        cost.selective_recompute.attention = cost.forward.attention;
    return cost;
}

EdgeCost edge_cost(const Model& m, const LayerShape& s, const Device& d, const Network& n) {
    EdgeCost e;
    const double tokens = static_cast<double>(s.micro_batch) * s.sequence / s.context;
    const double width =
        m.vocab > 0 ? std::ceil(static_cast<double>(m.vocab) / s.tensor) : m.classes;
    if (width > 0) {
        LayerBuilder head(s, d);
        // BERT predicts 15 % of the tokens (arXiv 1810.04805, sec. 3.1) and gathers them before the
        // decoder.
        const double predicted = m.causal ? 1.0 : 0.15;
        const double rows = m.vocab > 0 ? tokens * predicted : s.micro_batch;
        head.linear(rows, m.hidden, width, 1);
        // Loss in fp32: upcast, max, exp-sum, and the gradient written back.
        head.stream(rows * width, 6, 5, 1.0);
        if (s.tensor > 1) {
            const Group g = make_group(s.tensor, 1, n.per_node);
            const Seconds reduce = all_reduce(n, g, rows * 4.0 * kByte);
            head.tensor_comm(3.0 * reduce,
                             all_reduce(n, g, rows * m.hidden * d.element_bytes * kByte));
        }
        const LayerCost c = head.finish();
        e.head_forward = c.forward;
        e.head_backward = c.backward;
    }
    LayerBuilder embedding(s, d);
    embedding.stream(tokens * m.hidden, 3, 3, 1.5);
    const LayerCost c = embedding.finish();
    e.embedding_forward = c.forward;
    e.embedding_backward = c.backward;
    return e;
}

}  // namespace trainyard::perf
