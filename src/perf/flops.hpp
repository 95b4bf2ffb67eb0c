#pragma once
// Model FLOP of one training step, both conventions. docs/model/flops.md

#include "trainyard/base/units.hpp"
#include "trainyard/workload/training.hpp"

namespace trainyard::perf {

struct StepFlop {
    Flop causal;    ///< forward + backward, causal attention counts half the score matrix
    Flop full;      ///< the whole score matrix (Megatron and PaLM convention)
    Flop hardware;  ///< full, plus recomputed forward work
};
/// For the whole global batch. LoRA counts no weight gradients of frozen weights.
StepFlop step_flop(const workload::Model& m, const workload::Training& t);

}  // namespace trainyard::perf
