// alpha-beta model with a size-dependent bandwidth (Thakur, Rabenseifner, Gropp 2005; NCCL
// src/graph/tuning.cc for the shape). Ring: steps * latency + (n-1)/n * S / busbw. Across nodes a
// group that has r of a node's g accelerators gets r/g of the node's network cards, because every
// group of the layout communicates at the same time. Large all-reduces may run as a tree, whose
// latency grows with log2(nodes).

#include "collective.hpp"

#include <algorithm>
#include <cmath>

namespace trainyard::perf {

namespace {

constexpr double kUs = 1e-6;

/// Large-message bus bandwidth of a group, bytes per second.
double bus_bandwidth(const Network& n, Group g) {
    const double intra = n.intra / (kByte / kSecond);
    if (g.nodes() <= 1) return intra;
    const double share = static_cast<double>(g.per_node) / n.per_node;
    const double inter = n.inter_node / (kByte / kSecond) * share;
    return std::min(intra, inter);
}

/// Pipelined chunks below `half_message` lose bandwidth: effective = bw * x / (x + half).
double ramp(const Network& n, Hop hop, double bytes_per_rank) {
    const GlobalConstants& c = *n.constants;
    const double half =
        (hop == Hop::across_nodes ? c.half_message_mb : c.half_message_intra_mb) * 1e6;
    return bytes_per_rank / (bytes_per_rank + half);
}

Hop slowest_hop(Group g) { return g.nodes() > 1 ? Hop::across_nodes : Hop::inside_node; }

double hop_latency(const Network& n, Group g) {
    const GlobalConstants& c = *n.constants;
    const double intra_hops = std::max(0, g.ranks - g.nodes());
    const double inter_hops = g.nodes() > 1 ? g.nodes() - 1 : 0;
    return (intra_hops * c.intra_latency_us + inter_hops * c.inter_latency_us) * kUs;
}

double half_ring_seconds(const Network& n, Group g, double bytes) {
    const double part = bytes / g.ranks;
    const double rate = bus_bandwidth(n, g) * ramp(n, slowest_hop(g), part);
    return hop_latency(n, g) + part * (g.ranks - 1) / rate;
}

}  // namespace

Group make_group(int ranks, int stride, int accelerators_per_node) {
    const int room = std::max(1, accelerators_per_node / std::max(1, stride));
    return {ranks, std::min(ranks, room)};
}

Seconds all_gather(const Network& n, Group g, Bytes size) {
    if (g.ranks <= 1 || size <= Bytes{}) return {};
    return (half_ring_seconds(n, g, size / kByte) + n.constants->collective_base_us * kUs) *
           kSecond;
}

Seconds all_reduce(const Network& n, Group g, Bytes size) {
    if (g.ranks <= 1 || size <= Bytes{}) return {};
    const GlobalConstants& c = *n.constants;
    const double bytes = size / kByte;
    const double ring = 2 * half_ring_seconds(n, g, bytes);
    // Double binary tree: up and down, every byte twice, latency by depth.
    const double depth = 2 *
                         ((g.per_node - 1) * c.intra_latency_us +
                          std::log2(std::max(1, g.nodes())) * c.inter_latency_us * 1.5) *
                         kUs;
    const double tree =
        depth + 2 * bytes / (0.85 * bus_bandwidth(n, g) * ramp(n, slowest_hop(g), bytes / 4));
    return (std::min(ring, tree) + c.collective_base_us * kUs) * kSecond;
}

Seconds all_to_all(const Network& n, Group g, const ExpertTraffic& t) {
    if (g.ranks <= 1 || t.tokens <= 0) return {};
    const GlobalConstants& c = *n.constants;
    const double row = t.row / kByte;
    // Expected distinct ranks of a token's experts, or all its copies.
    const double ranks = g.ranks;
    const double copies =
        t.tokens *
        (t.once_per_node ? ranks * (1 - std::pow(1 - 1 / ranks, t.top_k)) : double(t.top_k));
    const double intra = n.intra / (kByte / kSecond);
    const double inside = copies * row * (g.per_node - 1) / g.ranks;
    double seconds =
        inside / (intra * ramp(n, Hop::inside_node, copies * row / g.ranks * g.per_node));
    if (g.nodes() > 1) {
        const double nodes = g.nodes();
        // Expected distinct remote nodes of a token's experts, or all its remote copies.
        const double remote = t.once_per_node ? (nodes - 1) * (1 - std::pow(1 - 1 / nodes, t.top_k))
                                              : t.top_k * (nodes - 1) / nodes;
        const double bytes = t.tokens * row * remote;
        const double per_accelerator = n.inter_node / (kByte / kSecond) / n.per_node;
        const double out =
            bytes / (per_accelerator * ramp(n, Hop::across_nodes, bytes / (nodes - 1)));
        seconds = std::max(seconds, out) + c.inter_latency_us * kUs * std::log2(nodes + 1);
    }
    return (seconds + c.collective_base_us * kUs + c.intra_latency_us * kUs) * kSecond;
}

Seconds point_to_point(const Network& n, Hop hop, int sharers, Bytes size) {
    const GlobalConstants& c = *n.constants;
    const double bytes = size / kByte;
    if (hop == Hop::inside_node) {
        return (c.collective_base_us * kUs +
                bytes / (n.intra / (kByte / kSecond) * c.p2p_fraction)) *
               kSecond;
    }
    const double rate = n.inter_node / (kByte / kSecond) / std::max(1, sharers);
    return ((c.collective_base_us + c.inter_latency_us) * kUs + bytes / (rate * c.p2p_fraction)) *
           kSecond;
}

Network make_network(const Cluster& cluster, const Constants& constants) {
    const GlobalConstants& c = constants.global;
    Network n;
    n.constants = &constants.global;
    n.per_node = std::min(cluster.accelerators_per_node, std::max(1, cluster.accelerators));
    const ArchitectureConstants& arch = constants.of(cluster.accelerator->architecture);
    n.intra = cluster.intra_bandwidth * arch.link_fraction;
    const Fabric fabric = cluster.inter.fabric;
    n.rdma = fabric != Fabric::tcp && fabric != Fabric::omni_path;
    double fraction = c.inter_fraction;
    if (fabric == Fabric::tcp) fraction = c.tcp_fraction;
    if (fabric == Fabric::omni_path) fraction = c.omni_path_fraction;
    const double nodes = cluster.nodes();
    if (n.rdma && nodes > 16) fraction /= 1 + 0.1 * c.inter_fraction_large * std::log2(nodes / 16);
    n.inter_node = cluster.inter.per_node * fraction;
    return n;
}

}  // namespace trainyard::perf
