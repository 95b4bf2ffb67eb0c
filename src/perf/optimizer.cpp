// Adam in mixed precision reads gradient, master weight and two moments, writes the last three and
// the 16-bit weight. Byte counts: ZeRO (arXiv 1910.02054) sec. 3.1 for Adam; 8-bit Adam: Dettmers
// et al. (arXiv 2110.02861), two one-byte moments; Adafactor: row and column sums (arXiv
// 1804.04235), ~0; Muon: one momentum (Jordan 2024), plus master copies.

#include "optimizer.hpp"

#include <algorithm>

namespace trainyard::perf {

using workload::Optimizer;

namespace {

double state_bytes_of_16_bit_weights(Optimizer o) {
    switch (o) {
        case Optimizer::adamw_fp32:
            return 12;  // fp32 master + two fp32 moments
        case Optimizer::adamw_8bit:
            return 6;                // fp32 master + two one-byte moments
        case Optimizer::adamw_bf16:  // two bf16 moments, no master copy (torch AdamW on bf16
                                     // weights)
        case Optimizer::adafactor:   // fp32 master, factored moments
            return 4;
        case Optimizer::sgd:
        case Optimizer::muon:
            return 8;  // fp32 master + momentum
    }
    return 12;
}

}  // namespace

double optimizer_state_bytes(Optimizer o, double weight_bytes) {
    const bool master_copy = o != Optimizer::adamw_bf16;
    return state_bytes_of_16_bit_weights(o) - (master_copy && weight_bytes >= 4 ? 4 : 0);
}

int optimizer_shards(const workload::Parallelism& p, bool expert) {
    if (p.zero == workload::Zero::none) return 1;
    const int ranks = p.data * p.context;
    if (expert) return std::max(1, ranks * p.tensor / std::max(1, p.expert * p.expert_tensor));
    if (p.shard_group > 0) return std::min(p.shard_group, ranks);
    return ranks;
}

Seconds optimizer_time(Optimizer o, double local, const Device& d, const Stack& stack) {
    const double state = optimizer_state_bytes(o, d.element_bytes);
    // 16-bit weights are written from the master copy; 32-bit ones are read and written.
    const bool wide = d.element_bytes >= 4;
    const double bytes = 2 * state + (wide ? 4 + 8 : stack.gradient_bytes + 2);
    return local * bytes * d.constants->optimizer_passes * kByte / d.memory_rate;
}

}  // namespace trainyard::perf
