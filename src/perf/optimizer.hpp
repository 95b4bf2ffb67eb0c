#pragma once
// Optimizer step: memory-bound passes over the local shard of the states. docs/model/optimizer.md

#include "data_parallel.hpp"
#include "device.hpp"

namespace trainyard::perf {

/// Bytes per trainable parameter of the persistent states, master copy included. Weights of 4 bytes
/// (fp32 and tf32 training) are their own master copy.
double optimizer_state_bytes(workload::Optimizer o, double weight_bytes = 2);
/// `local` = trainable parameters this device updates (after ZeRO sharding).
Seconds optimizer_time(workload::Optimizer o, double local, const Device& d, const Stack& stack);
/// Ranks over which optimizer states are divided.
int optimizer_shards(const workload::Parallelism& p, bool expert);

}  // namespace trainyard::perf
