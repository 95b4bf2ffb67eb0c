// Fused (flash) attention is compute-bound: 2 products forward, 5 backward (the scores are computed
// again), at a fraction of the 16-bit peak that rises with sequence length. A causal kernel skips
// the upper half of the tiles. Unfused attention writes the score matrix: two batched GEMMs plus
// streaming softmax, mask and dropout over s x s. Sources: FlashAttention-2 (arXiv 2307.08691) sec.
// 3; Korthikanti et al. (arXiv 2205.05198) Table 2 for the matrices.

#include "attention.hpp"

#include <algorithm>
#include <cmath>

#include "gemm.hpp"

namespace trainyard::perf {

namespace {

struct Heads {
    double count, qk_dim, v_dim;
};

Heads heads_of(const workload::Model& m, const LayerShape& s) {
    const double count = std::max(1.0, static_cast<double>(m.heads) / s.tensor);
    if (m.mla)
        return {count, double(m.mla->qk_nope_head_dim + m.mla->qk_rope_head_dim),
                double(m.mla->v_head_dim)};
    return {count, double(m.head_dim), double(m.head_dim)};
}

AttentionTime flash(const workload::Model& m, const LayerShape& s, int window, const Device& d) {
    const Heads h = heads_of(m, s);
    const double seq = s.sequence;
    const double span = window > 0 ? std::min<double>(window, seq) : seq;
    // Mean keys seen by a query: causal s/2, sliding window w - w^2/2s, bidirectional s.
    const double keys = m.causal ? span - span * span / (2 * seq) : span;
    const double queries = static_cast<double>(s.micro_batch) * seq / s.context;
    const double forward = 2 * queries * keys * h.count * (h.qk_dim + h.v_dim);
    const double backward = 2 * queries * keys * h.count * (3 * h.qk_dim + 2 * h.v_dim);
    // Head sizes under 128 leave tensor cores waiting on softmax.
    const double head_factor = std::min(1.0, 0.5 + 0.5 * h.qk_dim / 128.0);
    const double length_factor = seq / (seq + d.constants->flash_half_sequence);
    // One block of 128 queries of one head is one unit of work for a multiprocessor.
    const double blocks = s.micro_batch * h.count * std::ceil(seq / s.context / 128.0);
    const double occupancy = std::min(1.0, blocks / d.multiprocessors);
    const double factor = head_factor * length_factor * std::max(0.05, occupancy);
    const double rate = d.attention_rate / (kFlop / kSecond) * factor * d.attention_gain;
    return {forward / (rate * d.arch->flash_forward) * kSecond + d.kernel_gap,
            backward / (rate * d.arch->flash_forward * d.arch->flash_backward_ratio) * kSecond +
                2.0 * d.kernel_gap};
}

AttentionTime unfused(const workload::Model& m, const LayerShape& s, const Device& d) {
    const Heads h = heads_of(m, s);
    const double seq = s.sequence;
    const double rows = seq / s.context;
    const double batch = s.micro_batch * h.count;
    const Seconds scores = gemm_time(d, {rows, seq, h.qk_dim, batch});
    const Seconds values = gemm_time(d, {rows, h.v_dim, seq, batch});
    const double cells = batch * rows * seq;
    // Softmax reads and writes 16-bit scores, dropout reads, writes and stores a one-byte mask;
    // without the fused kernel, scale, mask and two casts read and write the scores again.
    const double separate = has_fused_softmax(m, s) ? 0 : 4 * (2 + 2);
    const double bytes = cells * (2 + 2 + 2 + 2 + 1 + separate) * d.arch->unfused_attention_traffic;
    const Seconds streaming = bytes * kByte / d.memory_rate + 3.0 * d.kernel_gap;
    // Backward: two products each for scores and values, streaming over the same cells with
    // gradients.
    return {scores + values + streaming, 2.0 * (scores + values) + 1.2 * streaming};
}

}  // namespace

bool has_fused_softmax(const workload::Model& m, const LayerShape& s) {
    return s.micro_batch * std::max(1, m.heads / s.tensor) % 4 == 0;
}

AttentionTime attention_time(const workload::Model& m, const LayerShape& s, int window,
                             const Device& d) {
    if (s.attention == workload::AttentionKernel::flash) return flash(m, s, window, d);
    return unfused(m, s, d);
}

}  // namespace trainyard::perf
