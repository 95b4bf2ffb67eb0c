// ZeRO-3 that saves shards only.

#include "found.hpp"

namespace trainyard::lint::ds_save {

namespace {

void find(const Case& c, Found& found) {
    for (const Document* d : c.of_kind(Kind::deepspeed)) {
        const doc::Node* zero = get(&d->root, "zero_optimization");
        const auto stage = count(zero, {"stage"});
        if (!stage || stage->value != 3) continue;
        if (is_true(get(zero, "stage3_gather_16bit_weights_on_model_save"))) continue;
        if (get(zero, "stage3_gather_fp16_weights_on_model_save") != nullptr) continue;
        found.at(Said{"3", stage->where},
                 "ZeRO-3 without stage3_gather_16bit_weights_on_model_save");
    }
}

}  // namespace

Rule rule() {
    return {
        .id = "DS-SAVE",
        .severity = Severity::note,
        .title = "ZeRO-3 saves no whole weights",
        .applies = "DeepSpeed configurations",
        .why =
            "save_pretrained and the final save write shards or placeholders: the model cannot be "
            "loaded elsewhere until the job starts once more or zero_to_fp32.py is run on a "
            "machine with enough memory",
        .fix = "\"stage3_gather_16bit_weights_on_model_save\": true, or plan for zero_to_fp32.py",
        .source =
            "DeepSpeed documentation, configuration JSON, ZeRO; huggingface/transformers DeepSpeed "
            "guide",
        .find = find};
}

}  // namespace trainyard::lint::ds_save
