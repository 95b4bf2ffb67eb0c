#include <algorithm>

#include "trainyard/perf/predict.hpp"

namespace trainyard::perf {

Result<Cluster> cluster_of(const catalog::Catalog& catalog, const catalog::Instance& instance,
                           int nodes) {
    const auto fail = [&](std::string what, std::string fix) {
        return bad_input(Diagnostic{
            Severity::error, {}, instance.type + ": " + std::move(what), "", std::move(fix)});
    };
    const catalog::Accelerator* a = catalog.accelerator(instance.accelerator);
    if (a == nullptr || instance.accelerators < 1) {
        return fail("has no accelerator to train on", "choose one from `trainyard catalog`");
    }
    Cluster c;
    c.accelerator = a;
    c.accelerators_per_node = instance.accelerators;
    c.accelerators = instance.accelerators * nodes;
    c.intra_link = instance.intra_link == catalog::LinkKind::none ? a->link : instance.intra_link;
    // PCIe 4 x16, one direction, where the accelerator has no link of its own
    // (docs/model/collectives.md).
    c.intra_bandwidth = a->link_bandwidth.value_or(24 * kGBPerSecond);
    if (nodes > 1) {
        if (!instance.network)
            return fail("its network bandwidth is unknown", "add it with --catalog");
        const bool efa = instance.efa == catalog::Yes::yes && instance.efa_interfaces > 0;
        c.inter = {efa ? Fabric::efa : Fabric::tcp, *instance.network};
    }
    return c;
}

Interconnect first_card_tcp(const Cluster& cluster, const catalog::Instance& instance) {
    const int cards = std::max(1, instance.network_cards.value_or(1));
    return {Fabric::tcp, cluster.inter.per_node / cards};
}

workload::Training merge_neuron_cores(workload::Training t, int chips) {
    workload::Parallelism& p = t.parallel;
    if (p.devices() != 2 * chips) return t;
    if (p.tensor > 1 && p.tensor % 2 == 0) {
        p.tensor /= 2;
    } else if (p.data % 2 == 0) {
        p.data /= 2;
        t.micro_batch *= 2;
    }
    return t;
}

}  // namespace trainyard::perf
