// fp16 and bf16 at once.

#include "found.hpp"

namespace trainyard::lint::ds_precision {

namespace {

void find(const Case& c, Found& found) {
    for (const Document* d : c.of_kind(Kind::deepspeed)) {
        const doc::Node* fp16 = get(&d->root, {"fp16", "enabled"});
        const doc::Node* bf16 = get(&d->root, {"bf16", "enabled"});
        if (bf16 == nullptr) bf16 = get(&d->root, {"bfloat16", "enabled"});
        if (!is_true(fp16) || !is_true(bf16)) continue;
        found.at(key_said(*fp16, "enabled"), "fp16 and bf16 are both enabled")
            .related.push_back({key_of(*bf16), "bf16"});
    }
}

}  // namespace

Rule rule() {
    return {.id = "DS-PRECISION",
            .severity = Severity::error,
            .title = "fp16 and bf16 are both on",
            .applies = "DeepSpeed configurations",
            .why = "DeepSpeed refuses to start with both",
            .fix = "bf16 on A100 and newer; fp16 on V100 and T4",
            .source = "DeepSpeed documentation, configuration JSON",
            .find = find};
}

}  // namespace trainyard::lint::ds_precision
