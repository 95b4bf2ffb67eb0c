// torchtitan: tensor parallelism over more than one node.

#include <fmt/format.h>

#include "found.hpp"
#include "titan.hpp"

namespace trainyard::lint::tt_tp_node {

namespace {

void find(const Case& c, Found& found) {
    for (const Document* d : c.of_kind(Kind::torchtitan)) {
        const Launch* l = titan::launch_of(c, *d);
        if (l == nullptr || !l->processes || !l->is_multi_node()) continue;
        const std::int64_t tp = titan::degree(*d, "tensor_parallel_degree");
        if (l->processes->value < 1 || tp <= l->processes->value) continue;
        Finding& f = found.at(titan::place(*d, "tensor_parallel_degree"),
                              fmt::format("TP {} spans nodes of {} GPUs", tp, l->processes->value));
        f.fix = fmt::format("TP {} or less, and FSDP or PP for the rest", l->processes->value);
        f.related.push_back({l->at.where, "the launch"});
    }
}

}  // namespace

Rule rule() {
    return {.id = "TT-TP-NODE",
            .severity = Severity::warning,
            .title = "Tensor parallelism spans nodes",
            .applies = "torchtitan configurations with the launch line that names them",
            .why =
                "TP exchanges activations several times in every layer: over the network instead "
                "of NVLink a step takes several times as long",
            .fix = "TP up to the GPUs of a node, then FSDP or PP",
            .source = "arXiv 2104.04473, section 3.2; docs/model/collectives.md",
            .find = find};
}

}  // namespace trainyard::lint::tt_tp_node
