// The planner, top to bottom: work -> search -> offers -> choice -> explanation. Each pass is one
// line of make_plan.

#include "trainyard/plan/plan.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <set>

#include "cautions.hpp"
#include "context.hpp"
#include "found.hpp"
#include "next_steps.hpp"
#include "rows.hpp"
#include "trainyard/base/text.hpp"
#include "trainyard/plan/explain.hpp"
#include "trainyard/plan/space.hpp"
#include "verdict.hpp"
#include "words.hpp"

namespace trainyard::plan {

ServiceChoice service_for(const Candidate& c, const Request& request,
                          const catalog::Catalog& catalog, const Assumptions& a,
                          double outside_saving) {
    ServiceFacts f;
    f.nodes = c.nodes;
    f.devices = c.devices();
    f.copies = request.job.copies;
    f.team = request.team;
    f.outside_saving = outside_saving;
    f.outside_cheaper = outside_saving > a.number("choice.outside_saving");
    f.uplift = service_uplift("SageMaker", *c.instance, catalog) - 1;
    return choose_service(f, a);
}

namespace {

Error no_such_type(const std::string& type, const catalog::Catalog& catalog, const char* key) {
    std::vector<std::string> names;
    for (const catalog::Instance& i : catalog.instances()) names.push_back(i.type);
    Diagnostic d;
    d.what = std::string(key) + ": there is no instance type \"" + type + "\" in the catalog";
    const auto near = nearest(type, names);
    d.fix = near ? "did you mean " + *near + "?" : "list the types with: trainyard catalog";
    return bad_input(std::move(d));
}

std::optional<Error> check(const Request& r, const catalog::Catalog& catalog) {
    if (r.job.instance && catalog.instance(*r.job.instance) == nullptr) {
        return no_such_type(*r.job.instance, catalog, "instance");
    }
    if (r.have && catalog.instance(r.have->instance) == nullptr) {
        return no_such_type(r.have->instance, catalog, "have");
    }
    for (const std::string& t : r.why_not) {
        if (catalog.instance(t) == nullptr) return no_such_type(t, catalog, "why-not");
    }
    std::set<std::string> regions;
    for (const catalog::Price& p : catalog.prices()) regions.insert(p.region);
    for (const std::string& wanted : r.job.regions) {
        if (regions.count(wanted) > 0) continue;
        Diagnostic d;
        d.what = "regions: no price is known for \"" + wanted + "\"";
        const auto near = nearest(wanted, std::vector<std::string>(regions.begin(), regions.end()));
        d.fix = near ? "did you mean " + *near + "?" : "write AWS region names such as us-east-1";
        return bad_input(std::move(d));
    }
    const bool work = r.job.tokens > Tokens{} || r.job.samples || r.job.accelerator_hours_each;
    if (!work) {
        Diagnostic d;
        d.what = "nothing says how much to train";
        d.fix = "add --tokens 300B, or tokens: in the job file";
        return bad_input(std::move(d));
    }
    return std::nullopt;
}

std::string job_line(const Request& r, const Work& w) {
    const workload::Job& j = r.job;
    std::string s = j.model.name;
    if (w.params > 0) s += ", " + format_count(w.params) + " parameters";
    s += ", " + std::string(to_string(j.method));
    if (j.model.opaque_params || (j.model.vocab == 0 && j.samples))
        return s + ", " + format_count(w.sequences) + " samples";
    if (j.copies > 1) s += ", " + plural(j.copies, "run");
    if (w.tokens() > w.sequence)
        s += ", " + format_count(w.tokens()) + " tokens at " + std::to_string(w.sequence);
    return s;
}

void warn_prices(Plan& p, const Assumptions& a) {
    int stale = 0;
    int oldest = 0;
    for (const Row& r : p.rows) {
        if (!r.option.offer.stale) continue;
        ++stale;
        oldest = std::max(oldest, r.option.offer.price_age_days);
    }
    if (stale == 0) return;
    p.warnings.push_back(
        std::to_string(stale) + " of " + plural(static_cast<int>(p.rows.size()), "row") +
        " rest on prices older than " + format_fixed(a.number("price.stale"), 0) +
        " days (oldest " + std::to_string(oldest) + " days): refresh them with --prices FILE");
}

void list_assumptions(Plan& p, const Request& request, const Assumptions& a) {
    for (const std::string& s : request.job.assumptions) p.assumptions.push_back(s);
    for (const std::string& s : request.job.model.assumptions) p.assumptions.push_back(s);
    if (!request.job.deadline) {
        p.assumptions.push_back("no deadline given: nothing is too slow; among plans within " +
                                format_percent(a.number("choice.impatience")) +
                                " of the cheapest, those that end in " +
                                format_fixed(a.number("choice.patience"), 0) + " days win the tie");
    }
    if (p.chosen) {
        for (const std::string& n : p.chosen->candidate.prediction.notes)
            p.assumptions.push_back(n);
    }
    for (const Assumption& row : a.rows()) {
        p.assumptions.push_back(row.key + " = " + format_fixed(row.value, row.value < 10 ? 2 : 0) +
                                " " + row.unit + " (" + row.provenance.source + ", " +
                                row.provenance.as_of + ")");
    }
}

/// Share of the rate that a cheaper provider would save; 0 where the job may not leave AWS.
double saving_outside(const Option& chosen, const workload::Job& job,
                      const catalog::Catalog& catalog) {
    const auto outside = cheapest_outside(catalog, *chosen.candidate.accelerator);
    if (!outside || !job.outside_aws_ok || !job.data_public) return 0;
    const UsdPerSecond each =
        chosen.offer.rate / static_cast<double>(chosen.candidate.instance->accelerators);
    return 1 - outside->per_accelerator / each;
}

/// Rows, facts, reasons, risks, fronts and the scaling curve.
void explain_choice(Plan& p, const Context& x, const std::vector<Option>& mine) {
    p.diagnosis = diagnose(x.request, x.catalog, x.assumptions);
    p.rows = rows_of(x);
    p.facts = facts_of(x, p.service);
    p.reasons = reasons_of(x);
    p.risks = risks_of(x);
    p.front = pareto_front(mine);
    std::vector<Option> firm;
    std::copy_if(mine.begin(), mine.end(), std::back_inserter(firm), [](const Option& o) {
        return is_guaranteed(o.offer.purchase) && !o.offer.commitment;
    });
    p.firm_front = pareto_front(firm);
    if (x.chosen != nullptr && x.request.detail == Detail::full && x.request.job.copies == 1 &&
        !x.request.job.model.opaque_params) {
        p.scaling = scaling_of(x.request, x.catalog, x.assumptions, x.chosen->candidate);
    }
}

}  // namespace

Result<Plan> make_plan(const Request& request, const catalog::Catalog& catalog,
                       const Assumptions& a) {
    if (auto error = check(request, catalog)) return std::move(*error);
    const Found found = find_options(request, catalog, a);
    const std::vector<Option>& mine = found.mine;
    const Option* chosen = found.chosen();
    Plan p;
    p.work = found.work;
    p.budget = request.job.budget;
    p.deadline = request.job.deadline;
    p.name = request.job.name;
    p.model = request.job.model;
    p.copies = request.job.copies;
    p.resume = request.job.resume;
    p.have = request.have;
    p.job = job_line(request, p.work);
    p.stats = found.stats;
    p.rejections = found.rejections;
    p.outcome = found.choice.outcome;
    p.only_spot = found.choice.only_spot;
    const Context x{request,       catalog,      a,      p.work,        found.limits,
                    found.options, p.rejections, chosen, found.named(), found.other()};
    if (chosen != nullptr) {
        p.chosen = *chosen;
        const bool sold = request.have || chosen->candidate.nodes <= a.number("block.max_total");
        if (!sold && p.outcome == Outcome::feasible) p.outcome = Outcome::tight;
        p.service = service_for(chosen->candidate, request, catalog, a,
                                saving_outside(*chosen, request.job, catalog));
        if (request.have)
            p.service = {"your own cluster", "have", "you have it: its scheduler stays", "--have"};
    }
    if (chosen == nullptr || p.outcome == Outcome::over_budget || p.outcome == Outcome::too_slow) {
        p.shortfall = shortfall_of(mine, request, p.work, catalog, a);
    }
    explain_choice(p, x, mine);
    if (chosen != nullptr && !request.have) {
        p.run = make_run(*chosen, request, p.service.service, catalog, a,
                         p.scaling ? &*p.scaling : nullptr);
    }
    for (const std::string& type : request.why_not) {
        p.why_not.push_back(why_not(type, request, p.work, catalog, a, p.chosen));
    }
    p.verdict = p.diagnosis
                    ? "Measured " + p.diagnosis->verdict
                    : verdict_of(p, a, cannot_run(request, p.work, p.rejections, found.options));
    p.next = next_steps(p, request, found, catalog, a);
    p.warnings = cautions_of(x);
    warn_prices(p, a);
    list_assumptions(p, request, a);
    return p;
}

}  // namespace trainyard::plan
