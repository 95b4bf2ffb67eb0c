// A job that leaves nothing behind when it is stopped.

#include <fmt/format.h>

#include "facts.hpp"
#include "found.hpp"

namespace trainyard::lint::ckpt_none {

namespace {

constexpr std::int64_t kLong = 21'600;  ///< seconds; what is lost then is worth a warning

Said never_saves(const Training& t) {
    for (const EnvVar& v : t.hyperparameters) {
        std::string name = v.name;
        std::replace(name.begin(), name.end(), '-', '_');
        const bool is_off = is_one_of(v.value.text, {"no", "none", "never", "False", "false", "0"});
        if (is_one_of(name, {"save_strategy", "save_checkpoints", "checkpointing"}) && is_off) {
            return {v.name + "=" + v.value.text, v.value.where};
        }
    }
    return {};
}

void find(const Case& c, Found& found) {
    for (const Training& t : c.trainings) {
        if (t.checkpoint_uri || t.is_open || t.is_spot()) continue;
        const Said off = never_saves(t);
        const std::int64_t seconds = t.max_run ? t.max_run->value : 86'400;
        const std::int64_t nodes = t.count ? t.count->value : 1;
        const double hours = static_cast<double>(seconds) / 3600;
        if (off) {
            Finding& f =
                found.at(off, fmt::format("{} and no checkpoint location: a stop after {:.1f} "
                                          "h loses everything",
                                          off.text, hours));
            f.waste = price_of(c, t.type.text, nodes);
        } else if (seconds > kLong && facts::is_accelerated(c, t.type.text) && t.type) {
            Finding& f =
                found.at(t.type, fmt::format("up to {:.0f} h on {}x {} without a checkpoint "
                                             "location",
                                             hours, nodes, t.type.text));
            f.severity = Severity::warning;
            f.waste = price_of(c, t.type.text, nodes);
        }
    }
}

}  // namespace

Rule rule() {
    return {.id = "CKPT-NONE",
            .severity = Severity::error,
            .title = "Nothing is saved before the end",
            .applies = "SageMaker jobs",
            .why =
                "at MaxRuntimeInSeconds, at a hardware fault or at a mistake the whole "
                "run is lost and paid",
            .fix =
                "save every few hours to /opt/ml/checkpoints and set "
                "CheckpointConfig.S3Uri",
            .source = "SageMaker documentation, checkpoints; docs/model (Daly's interval)",
            .find = find};
}

}  // namespace trainyard::lint::ckpt_none
