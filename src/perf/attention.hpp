#pragma once
// Score and value products with their softmax, without the projections. docs/model/attention.md

#include "layer.hpp"

namespace trainyard::perf {

struct AttentionTime {
    Seconds forward, backward;
};
/// One layer; `window` = 0 for full attention. Heads are divided by TP, tokens by CP.
AttentionTime attention_time(const workload::Model& m, const LayerShape& s, int window, const Device& d);

}  // namespace trainyard::perf
