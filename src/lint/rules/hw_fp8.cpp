// fp8 asked of a GPU that has no fp8 units.

#include <fmt/format.h>

#include "found.hpp"
#include "launch.hpp"

namespace trainyard::lint::hw_fp8 {

namespace {

void judge(const Case& c, const Said& type, const Said& asked, Found& found) {
    const catalog::Accelerator* a = type ? c.accelerator(type.text) : nullptr;
    if (a == nullptr || a->vendor != "NVIDIA" || a->peak_for(catalog::Precision::fp8)) return;
    found.at(asked, fmt::format("fp8 on {} ({}), which has no fp8 arithmetic", a->name, type.text))
        .related.push_back({type.where, "the instance type"});
}

Said fp8_option(const std::vector<Said>& words) {
    for (const std::string_view name : {"fp8-format", "fp8", "fp8-hybrid", "fp8-param-gather"}) {
        const Said found = option(words, name);
        if (found && !is_one_of(found.text, {"False", "false", "0", "none"})) {
            return {"--" + std::string(name), found.where};
        }
    }
    const Said mixed = option(words, "mixed-precision");
    return mixed.is("fp8") ? mixed : Said{};
}

void find(const Case& c, Found& found) {
    const Said only = only_type(c);
    for (const Document* d : c.of_kind(Kind::accelerate)) {
        const Said precision = said(&d->root, {"mixed_precision"});
        if (precision.is("fp8")) judge(c, only, precision, found);
    }
    for (const Document* d : c.of_kind(Kind::sbatch)) {
        if (const Said asked = fp8_option(argument_words(*d))) judge(c, only, asked, found);
    }
    for (const Job& job : c.jobs) {
        const std::vector<Said> types = c.types_of(job);
        if (job.form != Job::Form::pod || types.size() != 1) continue;
        if (const Said asked = fp8_option(job.words)) judge(c, types.front(), asked, found);
    }
    for (const Training& t : c.trainings) {
        for (const EnvVar& h : t.hyperparameters) {
            const bool is_switch = contains(h.name, "fp8") &&
                                   !is_one_of(h.value.text, {"False", "false", "0", "none"});
            if (is_switch || (contains(h.name, "precision") && h.value.is("fp8"))) {
                judge(c, t.type, h.value, found);
            }
        }
    }
}

}  // namespace

Rule rule() {
    return {
        .id = "HW-FP8",
        .severity = Severity::error,
        .title = "fp8 on a GPU without fp8 units",
        .applies = "launch lines, Accelerate configurations, SageMaker jobs",
        .why = "GPUs before Ada and Hopper have no fp8 units: Transformer Engine refuses to start",
        .fix = "bf16 on A100; fp8 on H100, H200, B200",
        .source =
            "data/catalog/accelerators.csv (no fp8 peak); NVIDIA Transformer Engine documentation",
        .find = find};
}

}  // namespace trainyard::lint::hw_fp8
