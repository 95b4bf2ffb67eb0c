// Pipeline stages do not divide the layers.

#include "found.hpp"
#include "megatron.hpp"

namespace trainyard::lint::meg_pp {

namespace {

void find(const Case& c, Found& found) {
    report_megatron(c, found, {"pp-layers", "pp-even", "vp-pp", "vp-layers", "vp-micro-batches"});
}

}  // namespace

Rule rule() {
    return {.id = "MEG-PP",
            .severity = Severity::error,
            .title = "Pipeline stages do not divide the layers",
            .applies = "scripts with Megatron-LM arguments",
            .why = "Megatron stops with an assertion after all nodes have started",
            .fix = "a PP (times virtual stages) that divides the layers",
            .source = "NVIDIA/Megatron-LM megatron/training/arguments.py; docs/reference/run.md",
            .find = find};
}

}  // namespace trainyard::lint::meg_pp
