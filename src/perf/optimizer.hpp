#pragma once
// Optimizer step: memory-bound passes over the local shard of the states. docs/model/optimizer.md

#include "data_parallel.hpp"
#include "device.hpp"
#include "trainyard/perf/optimizer_state.hpp"

namespace trainyard::perf {

/// `local` = trainable parameters this device updates (after ZeRO sharding).
Seconds optimizer_time(workload::Optimizer o, double local, const Device& d, const Stack& stack);
/// Ranks over which optimizer states are divided.
int optimizer_shards(const workload::Parallelism& p, bool expert);

}  // namespace trainyard::perf
