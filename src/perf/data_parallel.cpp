// ZeRO stages 0: all-reduce of gradients; 1 and 2: reduce-scatter of gradients, all-gather of
// updated weights (same volume); 3: weights gathered for forward and again for backward, per
// micro-batch, gradients reduce-scattered (Rajbhandari et al., arXiv 1910.02054, sec. 7). Hidden
// time = what fits under the compute window, times the stack's overlap quality; the last bucket is
// always exposed.

#include "data_parallel.hpp"

#include <algorithm>
#include <cmath>

namespace trainyard::perf {

using workload::Zero;

namespace {

struct Groups {
    Group dense, expert, shard, replica;
};

Groups groups_of(const workload::Parallelism& p, int per_node) {
    Groups g;
    const int stride = p.tensor;
    const int ranks = p.data * p.context;
    g.dense = make_group(ranks, stride, per_node);
    const int expert_ranks =
        std::max(1, ranks * p.tensor / std::max(1, p.expert * p.expert_tensor));
    g.expert = make_group(expert_ranks, p.expert * p.expert_tensor, per_node);
    const int shard = p.shard_group > 0 ? std::min(p.shard_group, ranks) : ranks;
    g.shard = make_group(shard, stride, per_node);
    g.replica = make_group(std::max(1, ranks / shard), stride * shard, per_node);
    return g;
}

struct Split {
    Seconds exposed, hidden;
};
Split overlap(Seconds traffic, Seconds window, double quality) {
    const Seconds hidden = std::min(traffic, window * quality);
    return {traffic - hidden, hidden};
}

/// Bytes of a weight and of a reduced gradient on the wire: 32-bit training moves both whole.
struct WireBytes {
    double weight, gradient;
};
WireBytes wire_bytes(const workload::Training& t, const Stack& stack) {
    const bool wide =
        t.precision == catalog::Precision::fp32 || t.precision == catalog::Precision::tf32;
    if (wide) return {4, 4};
    return {2, static_cast<double>(stack.gradient_bytes)};
}

/// Traffic once per step, after (or under) the last micro-batch's backward.
DataParallelTime per_step(const DataParallelInput& in, const Groups& g, const Network& n,
                          const GlobalConstants& c, const Stack& stack) {
    const double dense = in.parameters.dense * in.parameters.trainable_dense;
    const double expert = in.parameters.expert * in.parameters.trainable_expert;
    const WireBytes wire = wire_bytes(in.training, stack);
    const Bytes dense_grads = dense * wire.gradient * kByte;
    const Bytes expert_grads = expert * wire.gradient * kByte;
    DataParallelTime t;
    Seconds reduce, gather;
    if (in.training.parallel.zero == Zero::none) {
        reduce = all_reduce(n, g.dense, dense_grads) + all_reduce(n, g.expert, expert_grads);
    } else {
        reduce =
            reduce_scatter(n, g.dense, dense_grads) + reduce_scatter(n, g.expert, expert_grads);
        gather = all_gather(n, g.dense, dense * wire.weight * kByte) +
                 all_gather(n, g.expert, expert * wire.weight * kByte);
    }
    const double quality = stack.data_overlap ? c.bucket_overlap : 0;
    const Split r = overlap(reduce, in.backward, quality);
    const Split w = overlap(gather, in.forward, quality);
    t.exposed = r.exposed + w.exposed;
    t.slowdown = c.overlap_slowdown * (r.hidden + w.hidden);
    t.total = reduce + gather;
    return t;
}

/// Weights gathered unit by unit for every micro-batch.
DataParallelTime fully_sharded(const DataParallelInput& in, const Groups& g, const Network& n,
                               const GlobalConstants& c, const Stack& stack) {
    const double units = std::max(1.0, in.parameters.units);
    const WireBytes wire = wire_bytes(in.training, stack);
    // At one byte a parameter. Experts that EP has spread have fewer replicas; others are in the
    // unit.
    const bool spread = in.training.parallel.expert > 1;
    const StageParameters& own = in.parameters;
    const double trained = (spread ? own.trainable_dense : own.trainable_share()) * wire.gradient;
    const double trained_expert = own.trainable_expert * wire.gradient;
    const Bytes expert = (spread ? in.parameters.expert / units : 0) * kByte;
    const Bytes dense = in.parameters.total() / units * kByte - expert;
    const Seconds gather =
        all_gather(n, g.shard, dense * wire.weight) + all_gather(n, g.expert, expert * wire.weight);
    Seconds reduce = reduce_scatter(n, g.shard, dense * trained) +
                     reduce_scatter(n, g.expert, expert * trained_expert);
    if (g.replica.ranks > 1) reduce += all_reduce(n, g.replica, dense * trained / g.shard.ranks);
    const double quality = stack.data_overlap ? c.shard_overlap : 0;
    const Split f = overlap(gather, in.forward / units, quality);
    const Split b = overlap(gather + reduce, in.backward / units, quality);
    const double passes = units * in.micro_batches;
    DataParallelTime t;
    t.exposed =
        passes * (f.exposed + b.exposed) + gather;  // the first unit has nothing to hide under
    t.slowdown = c.overlap_slowdown * passes * (f.hidden + b.hidden);
    t.total = passes * (2.0 * gather + reduce);
    return t;
}

}  // namespace

DataParallelTime data_parallel_time(const DataParallelInput& in, const Network& n,
                                    const GlobalConstants& c, const Stack& stack) {
    const workload::Parallelism& p = in.training.parallel;
    if (p.data * p.context <= 1 && p.expert <= 1) return {};
    const Groups g = groups_of(p, n.per_node);
    // With pipeline stages, FSDP keeps the gathered weights until the step ends (torchtitan: no
    // reshard after forward).
    if (p.zero == Zero::weights && p.pipeline == 1) return fully_sharded(in, g, n, c, stack);
    return per_step(in, g, n, c, stack);
}

}  // namespace trainyard::perf
