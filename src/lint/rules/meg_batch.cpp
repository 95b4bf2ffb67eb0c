// The global batch is not micro-batch x DP x a whole number.

#include "found.hpp"
#include "megatron.hpp"

namespace trainyard::lint::meg_batch {

namespace {

void find(const Case& c, Found& found) { report_megatron(c, found, {"batch"}); }

}  // namespace

Rule rule() {
    return {.id = "MEG-BATCH",
            .severity = Severity::error,
            .title = "The global batch is not micro-batch x DP x a whole number",
            .applies = "scripts with Megatron-LM arguments",
            .why =
                "Megatron stops with an assertion; DP follows from the number of nodes, so a "
                "script that ran on four nodes fails on five",
            .fix = "a multiple of micro-batch x DP",
            .source = "NVIDIA/Megatron-LM megatron/training/arguments.py; docs/reference/run.md",
            .find = find};
}

}  // namespace trainyard::lint::meg_batch
