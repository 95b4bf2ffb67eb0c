// No mixed precision on GPUs that have it.

#include <fmt/format.h>

#include "found.hpp"
#include "launch.hpp"

namespace trainyard::lint::acc_precision {

namespace {

void find(const Case& c, Found& found) {
    const Said type = only_type(c);
    const catalog::Accelerator* a = type ? c.accelerator(type.text) : nullptr;
    if (a == nullptr || !a->peak_for(catalog::Precision::bf16)) return;
    for (const Document* d : c.of_kind(Kind::accelerate)) {
        const Said precision = said(&d->root, {"mixed_precision"});
        if (!is_one_of(precision.text, {"no", "false"})) continue;
        Finding& f =
            found.at(precision, fmt::format("mixed_precision: no on {} ({})", a->name, type.text));
        f.related.push_back({type.where, "the nodes"});
        if (said(&d->root, {"distributed_type"}).is("DEEPSPEED")) f.severity = Severity::note;
    }
}

}  // namespace

Rule rule() {
    return {
        .id = "ACC-PRECISION",
        .severity = Severity::warning,
        .title = "Training in fp32 on GPUs with bf16 units",
        .applies = "Accelerate configurations",
        .why =
            "matrix products in fp32 run at a fraction of the bf16 rate and activations need twice "
            "the memory: the same steps take several times the hours",
        .fix = "mixed_precision: bf16 on A100 and newer, fp16 on V100 and T4",
        .source =
            "data/catalog/accelerators.csv; Hugging Face Accelerate documentation, configuration",
        .find = find};
}

}  // namespace trainyard::lint::acc_precision
