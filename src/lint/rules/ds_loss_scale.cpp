// fp16 with a fixed loss scale.

#include <fmt/format.h>

#include "found.hpp"

namespace trainyard::lint::ds_loss_scale {

namespace {

void find(const Case& c, Found& found) {
    for (const Document* d : c.of_kind(Kind::deepspeed)) {
        const doc::Node* fp16 = get(&d->root, "fp16");
        if (!is_true(get(fp16, "enabled"))) continue;
        const doc::Node* scale = get(fp16, "loss_scale");
        if (scale == nullptr || !scale->is_numeric() || scale->as_number() == 0) continue;
        Finding& f =
            found.at(said(scale), fmt::format("fp16 with the fixed loss scale {}", scale->text()));
        f.edits.push_back({scale->where, scale->text(), "0"});
    }
}

}  // namespace

Rule rule() {
    return {
        .id = "DS-LOSS-SCALE",
        .severity = Severity::warning,
        .title = "fp16 with a fixed loss scale",
        .applies = "DeepSpeed configurations",
        .why =
            "gradients of fp16 underflow to zero or overflow to NaN as they shrink or spike in the "
            "course of training: the loss stands still or is lost, while the hours are paid",
        .fix = "\"loss_scale\": 0, which adapts it; or bf16 on A100 and newer",
        .source =
            "DeepSpeed documentation, configuration JSON, fp16; arXiv 1710.03740, section 3.2",
        .find = find};
}

}  // namespace trainyard::lint::ds_loss_scale
