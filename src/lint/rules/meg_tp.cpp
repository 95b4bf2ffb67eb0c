// Tensor parallelism does not divide the heads or the MLP.

#include "found.hpp"
#include "megatron.hpp"

namespace trainyard::lint::meg_tp {

namespace {

void find(const Case& c, Found& found) {
    report_megatron(c, found, {"tp-heads", "tp-kv-heads", "tp-ffn"});
}

}  // namespace

Rule rule() {
    return {.id = "MEG-TP",
            .severity = Severity::error,
            .title = "Tensor parallelism does not divide the heads or the MLP",
            .applies = "scripts with Megatron-LM arguments",
            .why =
                "each rank computes whole heads and whole columns: Megatron stops with an "
                "assertion after all nodes have started and loaded, which costs minutes of the "
                "whole cluster each time",
            .fix = "a TP that divides heads, query groups and the MLP width",
            .source = "NVIDIA/Megatron-LM megatron/training/arguments.py; docs/reference/run.md",
            .find = find};
}

}  // namespace trainyard::lint::meg_tp
