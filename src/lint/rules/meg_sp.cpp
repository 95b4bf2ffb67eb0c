// Sequence parallelism does not fit tensor parallelism.

#include "found.hpp"
#include "megatron.hpp"

namespace trainyard::lint::meg_sp {

namespace {

void find(const Case& c, Found& found) { report_megatron(c, found, {"sp-tp", "sp-sequence"}); }

}  // namespace

Rule rule() {
    return {.id = "MEG-SP",
            .severity = Severity::warning,
            .title = "Sequence parallelism does not fit tensor parallelism",
            .applies = "scripts with Megatron-LM arguments",
            .why =
                "it shards over the TP group what TP leaves whole: with TP 1 newer versions turn "
                "it off with a warning and older ones stop",
            .fix = "--sequence-parallel with TP above 1 only, and TP that divides the sequence",
            .source = "NVIDIA/Megatron-LM megatron/training/arguments.py; docs/reference/run.md",
            .find = find};
}

}  // namespace trainyard::lint::meg_sp
