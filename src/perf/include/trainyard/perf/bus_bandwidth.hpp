#pragma once
// What nccl-tests would print on a cluster. docs/model/collectives.md

#include "trainyard/perf/predict.hpp"

namespace trainyard::perf {

/// Bus bandwidth of an all-reduce of `size` over all devices of the cluster, as nccl-tests counts
/// it: 2 (n - 1) / n * size / time. 0 for one device.
BytesPerSecond all_reduce_bus_bandwidth(const Cluster& cluster, Bytes size,
                                        const Constants& constants = default_constants());

}  // namespace trainyard::perf
