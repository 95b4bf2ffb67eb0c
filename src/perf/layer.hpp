#pragma once
// Cost of one transformer layer for one micro-batch on one device, forward and backward, by kind of
// work.

#include "collective.hpp"
#include "device.hpp"
#include "trainyard/workload/model.hpp"
#include "trainyard/workload/training.hpp"

namespace trainyard::perf {

/// One direction (forward or backward) of one layer.
struct PassCost {
    Seconds gemm, attention, memory_bound;
    Seconds host;  ///< CPU time to launch the kernels; runs ahead of the device, so it is not added
                   ///< to it
    Seconds tensor_comm, expert_comm, context_comm;  ///< exposed
    Seconds compute() const { return gemm + attention + memory_bound; }
    Seconds total() const { return compute() + tensor_comm + expert_comm + context_comm; }
    PassCost& operator+=(const PassCost& o);
    friend PassCost operator*(PassCost c, double s);
};

struct LayerCost {
    PassCost forward, backward;
    /// Forward work repeated inside backward: the whole layer, or only core attention and streaming
    /// kernels.
    PassCost full_recompute, selective_recompute;
};

enum class LayerKind { dense, moe };

/// What the layer costs depend on (the memo key).
struct LayerShape {
    int tensor = 1, context = 1, expert = 1, expert_tensor = 1;
    int micro_batch = 1, sequence = 0;
    bool sequence_parallel = false;
    workload::AttentionKernel attention = workload::AttentionKernel::flash;
    workload::Method method = workload::Method::pretrain;
    int lora_rank = 0;
    bool operator==(const LayerShape&) const = default;
};
LayerShape layer_shape(const workload::Training& t);

LayerCost layer_cost(const workload::Model& m, LayerKind kind, const LayerShape& s, const Device& d,
                     const Network& n, const Stack& stack);

/// Output head and loss (forward + backward together are separate fields), and the embedding
/// lookup.
struct EdgeCost {
    PassCost head_forward, head_backward;
    PassCost embedding_forward, embedding_backward;
};
EdgeCost edge_cost(const workload::Model& m, const LayerShape& s, const Device& d,
                   const Network& n);

}  // namespace trainyard::perf
