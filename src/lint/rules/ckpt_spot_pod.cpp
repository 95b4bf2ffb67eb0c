// Spot nodes under a job that does not save.

#include <fmt/format.h>

#include <algorithm>

#include "facts.hpp"
#include "found.hpp"

namespace trainyard::lint::ckpt_spot_pod {

namespace {

bool saves(const Job& job) {
    if (facts::checkpoint_dir(job.words)) return true;
    const auto says = [](const std::string& text) {
        return contains(text, "ckpt") || contains(text, "checkpoint") || contains(text, "resume");
    };
    return std::any_of(job.words.begin(), job.words.end(),
                       [&](const Said& w) { return says(w.text); }) ||
           std::any_of(job.env.begin(), job.env.end(),
                       [&](const EnvVar& v) { return says(v.name) || says(v.value.text); });
}

void find(const Case& c, Found& found) {
    for (const Job& job : c.jobs) {
        if (!job.is_training || !job.has_devices() || job.words.empty() || saves(job)) continue;
        for (const Pool* p : c.pools_of(job)) {
            const auto spot = std::find_if(p->purchases.begin(), p->purchases.end(),
                                           [](const Said& s) { return s.is("spot"); });
            const bool is_spot = spot != p->purchases.end() || p->purchase.is("spot");
            if (!is_spot) continue;
            Finding& f = found.at(job.where, fmt::format("{} runs on spot nodes ({}) and shows no "
                                                         "checkpoint directory",
                                                         job.name, p->name));
            // The script may save on its own.
            f.severity = Severity::warning;
            if (const Said t = facts::accelerated(c, p->types)) {
                f.waste = price_of(c, t.text, job.nodes ? job.nodes->value : 1);
            }
            break;
        }
    }
}

}  // namespace

Rule rule() {
    return {.id = "CKPT-SPOT-POD",
            .severity = Severity::error,
            .title = "A training job on spot nodes without a checkpoint directory",
            .applies = "Kubernetes jobs beside a spot NodePool",
            .why =
                "each interruption of one node ends the gang; without checkpoints it "
                "restarts from step 0",
            .fix = "save to shared storage at least every hour, and resume from there",
            .source = "data/catalog/spot_interruption.csv; docs/model (Daly's interval)",
            .find = find};
}

}  // namespace trainyard::lint::ckpt_spot_pod
