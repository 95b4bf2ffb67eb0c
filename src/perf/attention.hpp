#pragma once
// Score and value products with their softmax, without the projections. docs/model/attention.md

#include "layer.hpp"

namespace trainyard::perf {

struct AttentionTime {
    Seconds forward, backward;
};
/// One layer; `window` = 0 for full attention. Heads are divided by TP, tokens by CP.
/// Unfused attention only: Megatron's fused softmax kernel needs micro-batch x local heads to be a
/// multiple of 4 (megatron/model/fused_softmax.py); otherwise scale, mask, softmax and casts run as
/// separate kernels.
bool has_fused_softmax(const workload::Model& m, const LayerShape& s);
AttentionTime attention_time(const workload::Model& m, const LayerShape& s, int window,
                             const Device& d);

}  // namespace trainyard::perf
