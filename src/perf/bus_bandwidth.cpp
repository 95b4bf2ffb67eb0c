#include "trainyard/perf/bus_bandwidth.hpp"

#include "collective.hpp"

namespace trainyard::perf {

BytesPerSecond all_reduce_bus_bandwidth(const Cluster& cluster, Bytes size,
                                        const Constants& constants) {
    const int n = cluster.accelerators;
    if (n <= 1) return {};
    const Seconds time = all_reduce(make_network(cluster, constants),
                                    make_group(n, 1, cluster.accelerators_per_node), size);
    return 2.0 * (n - 1) / n * (size / time);
}

}  // namespace trainyard::perf
