// Offload to the CPU on nodes with much device memory.

#include <fmt/format.h>

#include "found.hpp"
#include "launch.hpp"

namespace trainyard::lint::ds_offload_cost {

namespace {

void find(const Case& c, Found& found) {
    const Said type = only_type(c);
    const catalog::Instance* i = type ? c.instance(type.text) : nullptr;
    if (i == nullptr || i->accelerators < 8) return;
    for (const Document* d : c.of_kind(Kind::deepspeed)) {
        for (const std::string_view name : {"offload_optimizer", "offload_param"}) {
            const doc::Node* block = get(&d->root, {"zero_optimization", name});
            if (!is_one_of(said(block, {"device"}).text, {"cpu", "nvme"})) continue;
            Finding& f = found.at(
                key_said(*block, name),
                fmt::format("{} to {} on {}, which has {} accelerators to shard "
                            "over",
                            name, said(block, {"device"}).text, type.text, i->accelerators));
            f.related.push_back({type.where, "the nodes"});
        }
    }
}

}  // namespace

Rule rule() {
    return {.id = "DS-OFFLOAD-COST",
            .severity = Severity::note,
            .title = "Optimizer or parameters live in host memory",
            .applies = "DeepSpeed configurations beside a node type",
            .why =
                "every step moves them over PCIe, and the optimizer runs on the CPU: a step takes "
                "up to several times as long as with sharding over more devices",
            .fix =
                "shard over more GPUs (ZeRO 2 or 3) before you offload; trainyard plan shows the "
                "cheapest mapping that fits",
            .source = "DeepSpeed documentation, ZeRO-Offload; arXiv 2101.06840, section 6",
            .find = find};
}

}  // namespace trainyard::lint::ds_offload_cost
