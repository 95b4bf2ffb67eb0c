// Files that start another number of nodes than the plan's.

#include <fmt/format.h>

#include <algorithm>

#include "facts.hpp"
#include "found.hpp"
#include "launch.hpp"
#include "planned.hpp"

namespace trainyard::lint::plan_nodes {

namespace {

Said number(const Count& n) { return {std::to_string(n.value), n.where}; }

void differ(const Case& c, const Count& n, std::string_view who, Found& found) {
    const std::int64_t planned = c.plan->nodes->value;
    Finding& f = against_plan(found, number(n), c.plan->nodes->where,
                              fmt::format("{} on {} node{}, but the plan is for {}", who, n.value,
                                          n.value == 1 ? "" : "s", planned));
    f.fix = std::to_string(planned);
    f.edits.push_back({n.where, f.text, f.fix});
    if (n.value > planned) f.waste = price_of(c, c.plan->type.text, n.value - planned);
}

void judge_pool(const Case& c, const Pool& p, Found& found) {
    if (!c.plan->has_type(p.types)) return;
    const std::int64_t planned = c.plan->nodes->value;
    if (p.max && p.max->value < planned) {
        Finding& f = against_plan(found, number(*p.max), c.plan->nodes->where,
                                  fmt::format("\"{}\" grows to {} nodes, the plan needs {}", p.name,
                                              p.max->value, planned));
        f.fix = std::to_string(planned);
        f.edits.push_back({p.max->where, f.text, f.fix});
    } else if (p.min && p.min->value > planned) {
        Finding& f = against_plan(
            found, number(*p.min), c.plan->nodes->where,
            fmt::format("\"{}\" keeps {} nodes, the plan needs {}", p.name, p.min->value, planned));
        f.waste = price_of(c, c.plan->type.text, p.min->value - planned);
        f.severity = Severity::warning;
    }
}

/// Karpenter's pools of the plan's type serve a job together.
void judge_limits(const Case& c, Found& found) {
    if (c.plan->instance == nullptr) return;
    std::int64_t together = 0;
    std::optional<facts::NodeLimit> first;
    for (const Pool& p : c.pools) {
        if (p.form != Pool::Form::karpenter || !c.plan->has_type(p.types)) continue;
        const auto limit = facts::node_limit(p, *c.plan->instance);
        if (!limit) return;
        together += std::min<std::int64_t>(limit->nodes, 1 << 20);
        if (!first) first = limit;
    }
    if (!first || together >= c.plan->nodes->value) return;
    against_plan(found, first->said, c.plan->nodes->where,
                 fmt::format("the NodePools' limits, here {} {}, allow {} x {}, the plan needs {}",
                             first->key, first->said.text, together, c.plan->type.text,
                             c.plan->nodes->value));
}

void judge_jobs(const Case& c, Found& found) {
    for (const Job& j : c.jobs) {
        if (!j.nodes || !j.is_training) continue;
        if (j.nodes->value != c.plan->nodes->value) {
            differ(c, *j.nodes, j.name.empty() ? "the job runs" : j.name + " runs", found);
        }
    }
    for (const Launch& l : launches(c)) {
        if (!l.nodes || (l.job->nodes && l.job->nodes->where.line == l.nodes->where.line)) continue;
        if (l.nodes->value != c.plan->nodes->value) {
            differ(c, *l.nodes, l.launcher + " starts", found);
        }
    }
    for (const Training& t : c.trainings) {
        if (t.count && t.count->value != c.plan->nodes->value) {
            differ(c, *t.count, "the SageMaker job runs", found);
        }
    }
}

void find(const Case& c, Found& found) {
    if (c.plan == nullptr) return;
    for (const Pool& p : c.pools) judge_pool(c, p, found);
    judge_limits(c, found);
    if (c.plan->is_gang) judge_jobs(c, found);
}

}  // namespace

Rule rule() {
    return {.id = "PLAN-NODES",
            .severity = Severity::error,
            .title = "Another number of nodes than the plan's",
            .applies = "node pools, pods, scripts and SageMaker jobs, with --plan",
            .why =
                "the mapping's degrees multiply to the plan's devices: on fewer nodes it does not "
                "start, more are paid for and idle",
            .fix = "take the plan's number, or plan again with --nodes",
            .source = "docs/reference/check.md, --plan",
            .find = find};
}

}  // namespace trainyard::lint::plan_nodes
