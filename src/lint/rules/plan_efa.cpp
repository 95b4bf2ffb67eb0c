// Fewer EFA interfaces than the plan counts with.

#include <fmt/format.h>

#include <algorithm>

#include "found.hpp"
#include "planned.hpp"

namespace trainyard::lint::plan_efa {

namespace {

void judge_pool(const Case& c, const Pool& p, std::int64_t has, Found& found) {
    const bool is_planned = !p.types.empty() && p.types.front().text == c.plan->type.text;
    if (!is_planned) return;
    const bool is_switch = p.form == Pool::Form::parallelcluster || p.form == Pool::Form::eksctl;
    if (is_switch && !p.efa) {
        against_plan(found, p.types.front(), c.plan->type.where,
                     fmt::format("EFA is off, the plan counts with {} interfaces", has))
            .fix = p.form == Pool::Form::eksctl ? "efaEnabled: true" : "Efa: {Enabled: true}";
        return;
    }
    if (p.nics.empty()) return;
    const auto given =
        std::count_if(p.nics.begin(), p.nics.end(), [](const Nic& n) { return n.is_efa(); });
    if (given >= has) return;
    Finding& f =
        against_plan(found, Said{p.types.front().text, p.nics.front().where}, c.plan->type.where,
                     fmt::format("{} EFA interface{}, the plan counts with the {} of {}", given,
                                 given == 1 ? "" : "s", has, c.plan->type.text));
    // Legal layouts may leave some dark: P5 with 16 of 32 is one that AWS shows.
    if (given > 0) f.severity = Severity::warning;
}

void find(const Case& c, Found& found) {
    if (c.plan == nullptr || c.plan->instance == nullptr) return;
    const std::int64_t has = c.plan->instance->efa_interfaces;
    if (has == 0 || c.plan->nodes->value < 2 || !c.plan->is_gang) return;
    for (const Pool& p : c.pools) judge_pool(c, p, has, found);
    for (const Job& j : c.jobs) {
        if (!j.efa || j.efa->value == has) continue;
        const bool is_elsewhere = !j.types.empty() && j.types.front().text != c.plan->type.text;
        if (is_elsewhere) continue;
        Finding& f = against_plan(
            found, Said{std::to_string(j.efa->value), j.efa->where}, c.plan->type.where,
            fmt::format("{} EFA interface{} for the pod, the plan counts with {}", j.efa->value,
                        j.efa->value == 1 ? "" : "s", has));
        f.fix = fmt::format("vpc.amazonaws.com/efa: {}", has);
        f.edits.push_back({j.efa->where, f.text, std::to_string(has)});
    }
}

}  // namespace

Rule rule() {
    return {.id = "PLAN-EFA",
            .severity = Severity::error,
            .title = "Another number of EFA interfaces than the plan counts with",
            .applies = "ParallelCluster, eksctl, launch templates, pods, with --plan",
            .why =
                "the plan's communication times need all interfaces of the type: with fewer, each "
                "step waits longer for the network",
            .fix = "all EFA interfaces of the instance type",
            .source = "docs/reference/check.md, --plan; data/catalog/instances.csv",
            .find = find};
}

}  // namespace trainyard::lint::plan_efa
