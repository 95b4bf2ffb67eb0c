#pragma once
// Time of NCCL-style collectives over a group laid out on nodes. docs/model/collectives.md

#include "trainyard/base/units.hpp"
#include "trainyard/perf/constants.hpp"
#include "trainyard/perf/predict.hpp"

namespace trainyard::perf {

/// The links that collectives use, with achieved large-message rates.
struct Network {
    BytesPerSecond intra;       ///< per accelerator, one direction, achieved
    BytesPerSecond inter_node;  ///< per node, one direction, achieved (already reduced for scale)
    int per_node = 8;           ///< accelerators per node
    bool rdma = true;
    const GlobalConstants* constants = nullptr;
};
Network make_network(const Cluster& cluster, const Constants& constants);

/// A process group: `ranks` members, `per_node` of them on each node (1 <= per_node <=
/// Network::per_node).
struct Group {
    int ranks = 1;
    int per_node = 1;
    int nodes() const { return (ranks + per_node - 1) / per_node; }
};

/// A group whose members are `stride` accelerators apart (TP groups have stride 1, DP groups TP*CP,
/// …).
Group make_group(int ranks, int stride, int accelerators_per_node);

/// `size` is the full tensor (what each rank ends or starts with), as in nccl-tests.
Seconds all_reduce(const Network& n, Group g, Bytes size);
Seconds all_gather(const Network& n, Group g, Bytes size);
inline Seconds reduce_scatter(const Network& n, Group g, Bytes size) {
    return all_gather(n, g, size);
}
/// Expert dispatch or combine: every rank sends `tokens` rows of `row` bytes, each to `top_k`
/// experts spread evenly. `once_per_node` = a row crosses to a node once and is copied there
/// (DeepEP, arXiv 2412.19437 sec. 3.2.2).
struct ExpertTraffic {
    double tokens = 0;
    Bytes row;
    int top_k = 1;
    bool once_per_node = false;
};
Seconds all_to_all(const Network& n, Group g, const ExpertTraffic& t);
/// One neighbour to the next; `crosses` = the hop leaves the node, where `sharers` ranks of the
/// node send at once.
enum class Hop { inside_node, across_nodes };
Seconds point_to_point(const Network& n, Hop hop, int sharers, Bytes size);

}  // namespace trainyard::perf
