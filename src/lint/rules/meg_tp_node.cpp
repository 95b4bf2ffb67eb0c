// Tensor parallelism spans nodes.

#include "found.hpp"
#include "megatron.hpp"

namespace trainyard::lint::meg_tp_node {

namespace {

void find(const Case& c, Found& found) { report_megatron(c, found, {"tp-node"}); }

}  // namespace

Rule rule() {
    return {.id = "MEG-TP-NODE",
            .severity = Severity::warning,
            .title = "Tensor parallelism spans nodes",
            .applies = "scripts with Megatron-LM arguments",
            .why =
                "TP exchanges activations several times in every layer: over the network instead "
                "of NVLink a step takes several times as long",
            .fix = "TP up to the GPUs of a node, then PP",
            .source = "arXiv 2104.04473, section 3.2; docs/model/collectives.md",
            .find = find};
}

}  // namespace trainyard::lint::meg_tp_node
