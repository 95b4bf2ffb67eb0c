// Expert parallelism does not fit the experts or the ranks.

#include "found.hpp"
#include "megatron.hpp"

namespace trainyard::lint::meg_ep {

namespace {

void find(const Case& c, Found& found) {
    report_megatron(c, found, {"ep-dense", "ep-experts", "ep-ranks", "etp-ffn"});
}

}  // namespace

Rule rule() {
    return {.id = "MEG-EP",
            .severity = Severity::error,
            .title = "Expert parallelism does not fit the experts or the ranks",
            .applies = "scripts with Megatron-LM arguments",
            .why = "each rank holds equally many whole experts: Megatron stops with an assertion",
            .fix = "an EP that divides the experts and the data-parallel ranks",
            .source = "NVIDIA/Megatron-LM megatron/training/arguments.py; docs/reference/run.md",
            .find = find};
}

}  // namespace trainyard::lint::meg_ep
