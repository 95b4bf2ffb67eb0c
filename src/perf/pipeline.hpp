#pragma once
// Pipeline schedules: time of all micro-batches through all stages. docs/model/pipeline.md

#include "layer.hpp"

namespace trainyard::perf {

/// One stage for one micro-batch (all its chunks).
struct StageCost {
    PassCost forward, backward, recompute;
    /// Device idle because the host cannot launch fast enough.
    Seconds launch() const;
    Seconds total() const {
        return forward.total() + backward.total() + recompute.total() + launch();
    }
};

/// How many layers each stage holds.
struct StageLayers {
    double dense = 0, moe = 0;
};

struct PipelineTime {
    StageCost busiest;             ///< per micro-batch
    Seconds busiest_total;         ///< per micro-batch
    bool last_is_busiest = false;  ///< ties count for the last stage: it has the head
    Seconds bubble;
    Seconds comm;       ///< exposed sends
    Seconds scheduler;  ///< host work per micro-batch
};

struct PipelineInput {
    int stages = 1, chunks = 1, micro_batches = 1;
    StageCost first, middle,
        last;      ///< with embedding, plain, with head; equal when stages == 1 (use `first`)
    Seconds send;  ///< one activation to the next stage
};
PipelineTime pipeline_time(const PipelineInput& in, const GlobalConstants& c, const Stack& stack);

/// Layers of stage `index`; their sum is the model's. When PP does not divide the layers, some
/// stages hold one less: the last (it carries the head), then the first (the embedding), then from
/// the back. Dense layers of an MoE come first.
StageLayers stage_layers(const workload::Model& m, int stages, int index);
/// The stage that stands for all between first and last: the earliest without leading dense layers,
/// which has as many layers as any. Precondition: stages > 2.
int middle_stage(const workload::Model& m, int stages);

}  // namespace trainyard::perf
