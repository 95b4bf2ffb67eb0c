// Money limits that contradict the plan's cost or budget.

#include <fmt/format.h>

#include "facts.hpp"
#include "found.hpp"
#include "launch.hpp"
#include "planned.hpp"
#include "trainyard/base/text.hpp"

namespace trainyard::lint::plan_budget {

namespace {

/// A limit that stops or alarms before the run is done.
void judge_limit(const Case& c, const Said& limit, std::string_view who, Found& found) {
    const auto amount = limit ? parse_usd(limit.text) : std::nullopt;
    if (!amount) return;
    const Planned& p = *c.plan;
    if (p.cost && *amount < *p.cost) {
        against_plan(found, limit, p.cost_at,
                     fmt::format("{} ends at {}, the plan expects {}", who, format_usd(*amount),
                                 format_usd(*p.cost)))
            .fix = fmt::format("at least {}", format_usd(*p.cost));
    } else if (p.budget && *amount > *p.budget) {
        Finding& f = against_plan(found, limit, p.budget_at,
                                  fmt::format("{} allows {}, the plan's budget is {}", who,
                                              format_usd(*amount), format_usd(*p.budget)));
        f.severity = Severity::warning;
        f.why = "a run that goes wrong may spend more than was allowed before anything stops it";
        f.fix = format_usd(*p.budget);
    }
}

/// What a SageMaker job may spend until its own time limit.
void judge_job(const Case& c, const Training& t, Found& found) {
    const Planned& p = *c.plan;
    if (!p.budget || !t.max_run || t.is_spot()) return;
    const auto price = c.price(t.type.text);
    const std::int64_t nodes = t.count ? t.count->value : 1;
    if (!price || nodes <= 0 || t.max_run->value <= 0) return;
    const Usd most =
        static_cast<double>(nodes) * static_cast<double>(t.max_run->value) * kSecond * *price;
    if (most <= *p.budget) return;
    Finding& f = against_plan(
        found, Said{std::to_string(t.max_run->value), t.max_run->where}, p.budget_at,
        fmt::format("{} x {} may run for {} s: {} on demand, the plan's budget is {}", nodes,
                    t.type.text, t.max_run->value, format_usd(most), format_usd(*p.budget)));
    f.severity = Severity::warning;
    f.why = "a job that hangs is billed until its time limit";
    f.fix = fmt::format("at most {:.0f} s", *p.budget / most * double(t.max_run->value));
}

void find(const Case& c, Found& found) {
    if (c.plan == nullptr) return;
    for (const Resource& r : c.resources) {
        if (r.type == "aws_budgets_budget") {
            judge_limit(c, said(r.body, {"limit_amount"}), "this budget", found);
        } else if (r.type == "AWS::Budgets::Budget") {
            judge_limit(c, said(r.body, {"Budget", "BudgetLimit", "Amount"}), "this budget", found);
        }
    }
    for (const Job& j : c.jobs) {
        for (std::size_t i = 0; i + 1 < j.words.size(); ++i) {
            if (!j.words[i].text.ends_with("trainyard") || !j.words[i + 1].is("run")) continue;
            judge_limit(c, option(j.words, "budget"), "trainyard run", found);
            break;
        }
    }
    for (const Training& t : c.trainings) judge_job(c, t, found);
}

}  // namespace

Rule rule() {
    return {.id = "PLAN-BUDGET",
            .severity = Severity::error,
            .title = "A money limit that contradicts the plan",
            .applies =
                "AWS Budgets in Terraform and CloudFormation, trainyard run, SageMaker jobs, with "
                "--plan",
            .why = "the limit is reached before the run is done, and what was spent is lost",
            .fix = "a limit between the plan's cost and its budget",
            .source = "docs/reference/check.md, --plan",
            .find = find};
}

}  // namespace trainyard::lint::plan_budget
