#pragma once
// What an optimizer keeps for each trained parameter. docs/model/optimizer.md

#include "trainyard/workload/training.hpp"

namespace trainyard::perf {

/// Bytes per trainable parameter of the persistent states, master copy included. Weights of 4 bytes
/// (fp32 and tf32 training) are their own master copy.
double optimizer_state_bytes(workload::Optimizer o, double weight_bytes = 2);

}  // namespace trainyard::perf
