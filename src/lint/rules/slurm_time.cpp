// --time=24 is 24 minutes.

#include <fmt/format.h>

#include "found.hpp"
#include "launch.hpp"

namespace trainyard::lint::slurm_time {

namespace {

constexpr std::int64_t kLikelyHours = 240;  ///< more minutes than that are meant as such

void find(const Case& c, Found& found) {
    for (const Document* d : c.of_kind(Kind::sbatch)) {
        const EnvVar* time = find_env(d->script.directives, "time");
        if (time == nullptr) continue;
        const auto minutes = whole_number(time->value.text);
        const bool trains = [&] {
            for (const Launch& l : launches(c)) {
                if (l.document == d) return true;
            }
            return false;
        }();
        if (!minutes || !trains || *minutes <= 0 || *minutes > kLikelyHours) continue;
        // Round minutes such as 30 or 120 are usual for tests; 24, 48 and 72 are hours.
        const bool is_hours = *minutes % 24 == 0 && *minutes % 60 != 0;
        Finding& f = found.at(
            time->value, fmt::format("--time={} is {} minutes, not hours", *minutes, *minutes));
        f.fix = fmt::format("--time={}:00:00 if hours are meant", *minutes);
        f.edits.push_back({time->value.where, time->value.text, fmt::format("{}:00:00", *minutes)});
        if (!is_hours) {
            f.severity = Severity::note;
            f.edits.clear();
        }
    }
}

}  // namespace

Rule rule() {
    return {.id = "SLURM-TIME",
            .severity = Severity::warning,
            .title = "A bare number as time limit is minutes",
            .applies = "sbatch scripts that train",
            .why = "the job is killed after minutes, in the middle of its first epoch",
            .fix = "--time=HOURS:00:00 or DAYS-HOURS",
            .source = "Slurm documentation, sbatch --time",
            .find = find};
}

}  // namespace trainyard::lint::slurm_time
