// FSDP that shards nothing layer by layer.

#include "found.hpp"

namespace trainyard::lint::acc_wrap {

namespace {

void find(const Case& c, Found& found) {
    for (const Document* d : c.of_kind(Kind::accelerate)) {
        if (!said(&d->root, {"distributed_type"}).is("FSDP")) continue;
        const doc::Node* fsdp = get(&d->root, "fsdp_config");
        const Said wrap = said(fsdp, {"fsdp_auto_wrap_policy"});
        if (is_one_of(wrap.text, {"NO_WRAP", "no_wrap"})) {
            found.at(wrap, "fsdp_auto_wrap_policy: NO_WRAP makes the whole model one unit");
        }
        const Said strategy = said(fsdp, {"fsdp_sharding_strategy"});
        if (is_one_of(strategy.text, {"NO_SHARD", "3"})) {
            found.at(strategy, "this FSDP shards nothing: it is plain data parallelism");
        }
    }
}

}  // namespace

Rule rule() {
    return {
        .id = "ACC-WRAP",
        .severity = Severity::warning,
        .title = "FSDP without wrapping, or without sharding",
        .applies = "Accelerate configurations",
        .why =
            "the whole model is one unit: every device gathers all weights at once and needs the "
            "memory of the unsharded model; nothing overlaps",
        .fix =
            "fsdp_auto_wrap_policy: TRANSFORMER_BASED_WRAP and fsdp_sharding_strategy: FULL_SHARD",
        .source =
            "PyTorch documentation, FullyShardedDataParallel; Hugging Face Accelerate "
            "documentation, configuration",
        .find = find};
}

}  // namespace trainyard::lint::acc_wrap
