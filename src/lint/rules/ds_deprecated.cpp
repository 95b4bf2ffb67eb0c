// Keys that DeepSpeed no longer reads.

#include <fmt/format.h>

#include "found.hpp"

namespace trainyard::lint::ds_deprecated {

namespace {

struct Old {
    std::string_view key;
    std::string_view instead;
};
constexpr Old kOld[] = {
    {"cpu_offload", "offload_optimizer: {device: cpu}"},
    {"cpu_offload_params", "offload_param: {device: cpu}"},
    {"cpu_offload_use_pin_memory", "offload_optimizer: {pin_memory: true}"},
    {"stage3_gather_fp16_weights_on_model_save", "stage3_gather_16bit_weights_on_model_save"}};

void find(const Case& c, Found& found) {
    for (const Document* d : c.of_kind(Kind::deepspeed)) {
        const doc::Node* zero = get(&d->root, "zero_optimization");
        for (const Old& old : kOld) {
            const doc::Node* value = get(zero, old.key);
            if (value == nullptr || is_false(value)) continue;
            found
                .at(key_said(*value, old.key),
                    fmt::format("{} is the name of old versions", old.key))
                .fix = std::string(old.instead);
        }
    }
}

}  // namespace

Rule rule() {
    return {
        .id = "DS-DEPRECATED",
        .severity = Severity::warning,
        .title = "A DeepSpeed key of old versions",
        .applies = "DeepSpeed configurations",
        .why = "newer versions ignore it: what it asks for does not happen, and nothing says so",
        .fix = "the key that took its place",
        .source = "DeepSpeed documentation, configuration JSON",
        .find = find};
}

}  // namespace trainyard::lint::ds_deprecated
