// Files that start another instance type than the plan's.

#include <fmt/format.h>

#include <algorithm>

#include "facts.hpp"
#include "found.hpp"
#include "planned.hpp"

namespace trainyard::lint::plan_type {

namespace {

/// A list of types that has accelerators, none of them the plan's.
Said other_type(const Case& c, const std::vector<Said>& types) {
    const auto is_planned = [&](const Said& t) {
        return facts::bare_type(t.text) == c.plan->type.text;
    };
    if (std::any_of(types.begin(), types.end(), is_planned)) return {};
    return facts::accelerated(c, types);
}

void report(const Case& c, const Said& type, Found& found) {
    const std::string price = facts::per_hour(c.price(type.text));
    const std::string planned = facts::per_hour(c.price(c.plan->type.text));
    Finding& f = against_plan(found, type, c.plan->type.where,
                              fmt::format("{}{}, but the plan is for {}{}", type.text,
                                          price.empty() ? "" : " at " + price, c.plan->type.text,
                                          planned.empty() ? "" : " at " + planned));
    const bool is_sagemaker = type.text.starts_with("ml.");
    f.fix = (is_sagemaker ? "ml." : "") + c.plan->type.text;
    f.edits.push_back({type.where, type.text, f.fix});
}

void find(const Case& c, Found& found) {
    if (c.plan == nullptr) return;
    // A repository may hold other clusters beside the planned one.
    const auto is_wrong = [&](const auto& types) {
        return static_cast<bool>(other_type(c, types));
    };
    const auto has_planned = [&](const std::vector<Said>& types) {
        return !types.empty() && !is_wrong(types) &&
               static_cast<bool>(facts::accelerated(c, types));
    };
    if (std::none_of(c.pools.begin(), c.pools.end(),
                     [&](const Pool& p) { return has_planned(p.types); })) {
        for (const Pool& p : c.pools) {
            if (const Said type = other_type(c, p.types)) report(c, type, found);
        }
    }
    if (std::none_of(c.jobs.begin(), c.jobs.end(),
                     [&](const Job& j) { return has_planned(j.types); })) {
        for (const Job& j : c.jobs) {
            if (const Said type = other_type(c, j.types)) report(c, type, found);
        }
    }
    for (const Training& t : c.trainings) {
        if (t.type && is_wrong(std::vector<Said>{t.type})) report(c, t.type, found);
    }
}

}  // namespace

Rule rule() {
    return {.id = "PLAN-TYPE",
            .severity = Severity::error,
            .title = "Another instance type than the plan's",
            .applies = "node pools, pods and SageMaker jobs, with --plan",
            .why =
                "time, memory and cost of the plan hold for its own type: on another one the "
                "mapping may not fit, and the price is another",
            .fix = "take the plan's type, or plan again with --instance",
            .source = "docs/reference/check.md, --plan",
            .find = find};
}

}  // namespace trainyard::lint::plan_type
