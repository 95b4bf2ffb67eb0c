#pragma once
// Gradient reduction and weight gathering, ZeRO 0-3 / FSDP, with hybrid sharding and overlap.
// docs/model/data-parallel.md

#include "collective.hpp"
#include "trainyard/perf/stack.hpp"
#include "trainyard/workload/training.hpp"

namespace trainyard::perf {

/// Trainable and frozen parameters that one device of a pipeline stage computes with (TP/EP already
/// applied).
struct StageParameters {
    double dense = 0;             ///< replicated over DP*CP
    double expert = 0;            ///< replicated over the expert-data-parallel group only
    double edge = 0;              ///< of `dense`: embedding and output head
    double trainable_dense = 1;   ///< LoRA: adapters / base weights of `dense`
    double trainable_expert = 1;  ///< the same of `expert`
    double units = 1;             ///< layers, the FSDP wrapping unit
    double total() const { return dense + expert; }
    double trainable() const { return dense * trainable_dense + expert * trainable_expert; }
    double trainable_share() const { return total() > 0 ? trainable() / total() : 1; }
};

struct DataParallelInput {
    StageParameters parameters;
    workload::Training training;
    Seconds forward,
        backward;  ///< of one micro-batch on this stage, the window that can hide traffic
    int micro_batches = 1;
};

struct DataParallelTime {
    Seconds exposed;
    Seconds slowdown;  ///< compute slowed by the hidden part
    Seconds total;     ///< all traffic, hidden or not
};
DataParallelTime data_parallel_time(const DataParallelInput& in, const Network& n,
                                    const GlobalConstants& c, const Stack& stack);

}  // namespace trainyard::perf
