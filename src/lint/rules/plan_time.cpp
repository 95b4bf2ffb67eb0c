// Time limits shorter than the plan's run.

#include <fmt/format.h>

#include <algorithm>

#include "facts.hpp"
#include "found.hpp"
#include "planned.hpp"
#include "trainyard/base/text.hpp"

namespace trainyard::lint::plan_time {

namespace {

constexpr std::int64_t kLongestJob = 2'419'200;  ///< seconds; SageMaker's quota, 28 days

void judge(const Case& c, const Said& at, const std::optional<Seconds>& limit, Found& found) {
    if (!limit || *limit <= Seconds{} || *limit >= *c.plan->expected) return;
    against_plan(found, at, c.plan->expected_at,
                 fmt::format("the job is ended after {}, the plan expects {}",
                             format_duration(*limit), format_duration(*c.plan->expected)))
        .fix = fmt::format("at least {}", format_duration(*c.plan->expected));
}

void judge_count(const Case& c, const std::optional<Count>& seconds, Found& found) {
    if (!seconds) return;
    judge(c, Said{std::to_string(seconds->value), seconds->where},
          static_cast<double>(seconds->value) * kSecond, found);
}

/// A job that starts itself again after its time may be as short as it likes.
bool returns(const Document& d) {
    return d.text.find("requeue") != std::string_view::npos ||
           d.text.find("--dependency") != std::string_view::npos ||
           find_env(d.script.directives, "array") != nullptr;
}

void find(const Case& c, Found& found) {
    if (c.plan == nullptr || !c.plan->expected || !c.plan->is_gang) return;
    for (const Document* d : c.of_kind(Kind::sbatch)) {
        const EnvVar* time = find_env(d->script.directives, "time");
        const bool trains = std::any_of(c.jobs.begin(), c.jobs.end(), [&](const Job& j) {
            return j.document == d && j.is_training;
        });
        if (time == nullptr || !trains || returns(*d)) continue;
        judge(c, time->value, facts::slurm_time(time->value.text), found);
    }
    for (const Training& t : c.trainings) {
        // SageMaker's longest job: a run beyond it is cut in parts that resume.
        const bool is_part = t.max_run && t.max_run->value >= kLongestJob && t.checkpoint_uri;
        if (!is_part) judge_count(c, t.max_run, found);
    }
    for (const Job& j : c.jobs) {
        if (j.form != Job::Form::pod || !j.is_training) continue;
        judge_count(c, count(j.spec, {"activeDeadlineSeconds"}), found);
        judge_count(c, count(j.object, {"spec", "activeDeadlineSeconds"}), found);
        judge_count(c, count(j.object, {"spec", "runPolicy", "activeDeadlineSeconds"}), found);
    }
}

}  // namespace

Rule rule() {
    return {.id = "PLAN-TIME",
            .severity = Severity::error,
            .title = "A time limit shorter than the plan's run",
            .applies = "sbatch scripts, SageMaker jobs, Kubernetes jobs, with --plan",
            .why = "the job is killed before it is done; what was not saved is lost",
            .fix = "a limit above the plan's time, or a job that continues itself",
            .source = "docs/reference/check.md, --plan",
            .find = find};
}

}  // namespace trainyard::lint::plan_time
