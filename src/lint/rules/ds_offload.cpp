// Offload that the ZeRO stage does not know.

#include <fmt/format.h>

#include "found.hpp"

namespace trainyard::lint::ds_offload {

namespace {

bool is_used(const doc::Node* offload) {
    const Said device = said(offload, {"device"});
    return offload != nullptr && !device.is("none");
}

void find(const Case& c, Found& found) {
    for (const Document* d : c.of_kind(Kind::deepspeed)) {
        const doc::Node* zero = get(&d->root, "zero_optimization");
        const auto stage = count(zero, {"stage"});
        const std::int64_t level = stage ? stage->value : 0;
        if (zero == nullptr || (!stage && get(zero, "stage") != nullptr)) continue;
        const doc::Node* parameters = get(zero, "offload_param");
        const doc::Node* optimizer = get(zero, "offload_optimizer");
        if (is_used(parameters) && level < 3) {
            found.at(key_said(*parameters, "offload_param"),
                     fmt::format("offload_param with ZeRO stage {}: only stage 3 shards parameters",
                                 level));
        }
        if (is_used(optimizer) && level < 1) {
            found.at(key_said(*optimizer, "offload_optimizer"),
                     "offload_optimizer without ZeRO (stage 0)");
        }
        for (const doc::Node* block : {parameters, optimizer}) {
            if (said(block, {"device"}).is("nvme") && !said(block, {"nvme_path"})) {
                found.at(said(block, {"device"}), "offload to nvme without nvme_path");
            }
        }
    }
}

}  // namespace

Rule rule() {
    return {.id = "DS-OFFLOAD",
            .severity = Severity::error,
            .title = "Offload needs a higher ZeRO stage",
            .applies = "DeepSpeed configurations",
            .why =
                "the setting is ignored or refused: parameters stay on the device and the run is "
                "out of memory, although the file says that they do not",
            .fix = "\"stage\": 3 for offload_param, 1 to 3 for offload_optimizer",
            .source = "DeepSpeed documentation, configuration JSON, ZeRO",
            .find = find};
}

}  // namespace trainyard::lint::ds_offload
