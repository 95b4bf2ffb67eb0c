// ZeRO-2 or 3 with a pipeline.

#include <fmt/format.h>

#include "found.hpp"
#include "launch.hpp"

namespace trainyard::lint::ds_pipeline {

namespace {

/// PP of the Megatron arguments in the scripts of the case.
std::optional<Count> pipeline_of(const Case& c) {
    for (const Document& d : c.documents) {
        if (d.kind != Kind::shell && d.kind != Kind::sbatch) continue;
        const std::vector<Said> words = argument_words(d);
        if (has_option(words, "no-pipeline-parallel")) continue;
        const auto pp = option_count(d, words, {"pipeline-model-parallel-size", "pp"});
        const bool is_deepspeed =
            has_option(words, "deepspeed") || has_option(words, "deepspeed-config");
        if (pp && pp->value > 1 && is_deepspeed) return pp;
    }
    return std::nullopt;
}

void find(const Case& c, Found& found) {
    for (const Document* d : c.of_kind(Kind::deepspeed)) {
        const auto stage = count(&d->root, {"zero_optimization", "stage"});
        if (!stage || stage->value < 2) continue;
        auto stages = count(&d->root, {"pipeline", "stages"});
        if (!stages || stages->value <= 1) stages = pipeline_of(c);
        if (!stages || stages->value <= 1) continue;
        found
            .at(Said{std::to_string(stage->value), stage->where},
                fmt::format("ZeRO stage {} with {} pipeline stages", stage->value, stages->value))
            .related.push_back({stages->where, "the pipeline"});
    }
}

}  // namespace

Rule rule() {
    return {.id = "DS-PIPELINE",
            .severity = Severity::error,
            .title = "ZeRO stage 2 or 3 together with pipeline parallelism",
            .applies = "DeepSpeed configurations",
            .why =
                "the pipeline engine keeps the gradients of all micro-batches, which ZeRO-2 and 3 "
                "would scatter: DeepSpeed stops with an assertion",
            .fix = "\"stage\": 1 with a pipeline",
            .source = "deepspeed/runtime/pipe/engine.py; docs/reference/run.md (zero-pp)",
            .find = find};
}

}  // namespace trainyard::lint::ds_pipeline
