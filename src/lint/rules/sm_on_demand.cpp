// A SageMaker job on demand that could be managed spot training.

#include <fmt/format.h>

#include "facts.hpp"
#include "found.hpp"

namespace trainyard::lint::sm_on_demand {

namespace {

void find(const Case& c, Found& found) {
    for (const Training& t : c.trainings) {
        if (t.is_open || t.is_spot() || t.training_plan || t.keep_alive) continue;
        if (!facts::is_accelerated(c, t.type.text)) continue;
        const std::int64_t nodes = t.count ? t.count->value : 1;
        const auto saved = spot_saving(c, t.type.text, nodes);
        if (!saved) continue;
        Finding& f = found.at(t.spot ? t.spot : t.type,
                              fmt::format("{}x {} on demand: EC2 spot was {} cheaper", nodes,
                                          t.type.text, facts::per_hour(saved)));
        f.waste = saved;
        if (!t.checkpoint_uri) f.fix += "; first make the job save and resume (checkpoint_s3_uri)";
    }
}

}  // namespace

Rule rule() {
    return {.id = "SM-ON-DEMAND",
            .severity = Severity::note,
            .title = "On demand where managed spot training would do",
            .applies = "SageMaker jobs",
            .why = "a job that can resume pays the on-demand price for nothing",
            .fix = "use_spot_instances=True with max_wait of at least max_run",
            .source =
                "SageMaker documentation, managed spot training; spot prices of EC2 in "
                "data/catalog/prices.csv",
            .certainty = Certainty::account,
            .find = find};
}

}  // namespace trainyard::lint::sm_on_demand
