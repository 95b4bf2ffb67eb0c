// The degrees of parallelism do not divide the processes.

#include "found.hpp"
#include "megatron.hpp"

namespace trainyard::lint::meg_world {

namespace {

void find(const Case& c, Found& found) { report_megatron(c, found, {"world"}); }

}  // namespace

Rule rule() {
    return {.id = "MEG-WORLD",
            .severity = Severity::error,
            .title = "The degrees of parallelism do not divide the processes",
            .applies = "scripts with Megatron-LM arguments",
            .why = "Megatron stops with an assertion, or ranks without a group wait for ever",
            .fix = "TP x PP x CP that divides nodes x processes per node",
            .source = "NVIDIA/Megatron-LM megatron/training/arguments.py; docs/reference/run.md",
            .find = find};
}

}  // namespace trainyard::lint::meg_world
