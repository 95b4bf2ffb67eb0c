// Context parallelism does not divide the sequence.

#include "found.hpp"
#include "megatron.hpp"

namespace trainyard::lint::meg_cp {

namespace {

void find(const Case& c, Found& found) { report_megatron(c, found, {"cp-sequence"}); }

}  // namespace

Rule rule() {
    return {.id = "MEG-CP",
            .severity = Severity::error,
            .title = "Context parallelism does not divide the sequence",
            .applies = "scripts with Megatron-LM arguments",
            .why =
                "each rank takes one chunk of the front and one of the back: the sequence must be "
                "a multiple of 2 x CP, or Megatron stops",
            .fix = "a sequence that is a multiple of 2 x CP",
            .source = "NVIDIA/Megatron-LM megatron/training/arguments.py; docs/reference/run.md",
            .find = find};
}

}  // namespace trainyard::lint::meg_cp
