// The planner, top to bottom: work -> search -> offers -> choice -> explanation. Each pass is one
// line of make_plan.

#include "trainyard/plan/plan.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <set>

#include "cautions.hpp"
#include "context.hpp"
#include "rows.hpp"
#include "trainyard/base/text.hpp"
#include "trainyard/plan/explain.hpp"
#include "trainyard/plan/space.hpp"
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

/// The search, with the type the user named searched up to the node count the user named.
SearchResult search_all(const Request& request, const catalog::Catalog& catalog,
                        const Assumptions& a) {
    SearchResult all = search(request, catalog, a);
    if (!request.job.instance || !request.job.nodes || request.job.copies > 1) return all;
    std::vector<int> sizes = node_counts(*request.job.nodes);
    if (sizes.back() != *request.job.nodes) sizes.push_back(*request.job.nodes);
    SearchResult own =
        search_type(request, catalog, a, *catalog.instance(*request.job.instance), sizes);
    std::erase_if(all.candidates,
                  [&](const Candidate& c) { return c.instance->type == *request.job.instance; });
    for (Candidate& c : own.candidates) all.candidates.push_back(std::move(c));
    return all;
}

std::vector<Option> all_options(const SearchResult& found, const Request& request, const Work& work,
                                const catalog::Catalog& catalog, const Assumptions& a) {
    std::vector<Option> options;
    for (const Candidate& c : found.candidates) {
        const ServiceChoice service = service_for(c, request, catalog, a, 0);
        for (Offer& o : offers(c, request, work, service.service, catalog, a))
            options.push_back({c, std::move(o)});
    }
    return options;
}

/// Within the user's own type and count, if named.
std::vector<Option> allowed(const std::vector<Option>& options, const workload::Job& job) {
    std::vector<Option> out;
    for (const Option& o : options) {
        const bool type = !job.instance || o.candidate.instance->type == *job.instance;
        const bool count = !job.nodes || o.candidate.nodes <= *job.nodes;
        if (type && count) out.push_back(o);
    }
    return out;
}

const Option* requested_option(const std::vector<Option>& mine, const workload::Job& job) {
    if (!job.nodes) return nullptr;
    const Option* best = nullptr;
    for (const Option& o : mine) {
        if (o.candidate.nodes != *job.nodes || !is_guaranteed(o.offer.purchase) ||
            o.offer.commitment)
            continue;
        if (best == nullptr || o.offer.cost.expected < best->offer.cost.expected) best = &o;
    }
    return best;
}

/// The user named a node count: keep it if it scales, else the cheapest smaller one that is in
/// time.
void prefer_requested(const std::vector<Option>& mine, const Option* requested, const Limits& l,
                      const Assumptions& a, Choice& choice) {
    if (requested == nullptr || !choice.index) return;
    const Option& small = mine[*choice.index];
    if (small.candidate.nodes >= requested->candidate.nodes) return;
    const double speedup = small.candidate.training_time() / requested->candidate.training_time();
    const double ratio =
        static_cast<double>(requested->candidate.devices()) / small.candidate.devices();
    const bool in_time = requested->offer.wall.expected <= l.deadline;
    if (speedup / ratio >= a.number("choice.scaling_floor") && in_time) {
        choice.index = static_cast<std::size_t>(requested - mine.data());
    }
}

std::string job_line(const Request& r, const Work& w) {
    const workload::Job& j = r.job;
    std::string s = j.model.name;
    if (w.params > 0) s += ", " + format_count(w.params) + " parameters";
    s += ", " + std::string(to_string(j.method));
    if (j.model.opaque_params) return s + ", " + format_count(w.sequences) + " samples";
    if (j.copies > 1) s += ", " + plural(j.copies, "run");
    if (w.tokens() > w.sequence)
        s += ", " + format_count(w.tokens()) + " tokens at " + std::to_string(w.sequence);
    return s;
}

std::string verdict_of(const Plan& p, const Assumptions& a, const std::string& reason) {
    if (!p.chosen) {
        if (p.outcome == Outcome::does_not_fit) return "No: " + reason;
        std::string s = "No: not feasible as asked";
        if (p.shortfall && p.shortfall->cost_factor > 1)
            s += ", " + times(p.shortfall->cost_factor) + " the budget";
        if (p.shortfall && p.shortfall->time_factor > 1 && p.deadline)
            s += ", " + format_duration((p.shortfall->time_factor - 1) * *p.deadline) +
                 " past the deadline";
        return s;
    }
    const Option& o = *p.chosen;
    const std::string service = p.service.service.substr(0, p.service.service.find(" +"));
    std::string what = describe_cluster(o.candidate) + " (" +
                       std::to_string(o.candidate.nodes * o.candidate.instance->accelerators) +
                       " " + device_name(*o.candidate.accelerator) + "), " +
                       purchase_words(o.offer) + ", " + o.offer.region + ", " + service + ": " +
                       time_span(o.offer.wall.low, o.offer.wall.high) + ", " +
                       money_compact(o.offer.cost.low);
    const std::string most = money_compact(o.offer.cost.high);
    if (most != money_compact(o.offer.cost.low)) what += " to " + most;
    std::string s = (p.only_spot ? "Only on spot: rent " : "Rent ") + what;
    if (p.outcome == Outcome::over_budget) {
        s = "No: " + format_usd(to_usd(o.offer.cost.expected) - *p.budget) +
            " over the budget; the nearest is " + what;
    }
    if (p.outcome == Outcome::too_slow) {
        s = "No: " + format_duration(o.offer.wall.expected - *p.deadline) +
            " past the deadline; the nearest is " + what;
    }
    if (p.outcome == Outcome::tight) s += "; tight";
    const int most_nodes = static_cast<int>(a.number("block.max_total"));
    if (o.candidate.nodes > most_nodes) {
        s += "; " + grouped(o.candidate.nodes) +
             " instances are not obtainable on demand, and Capacity Blocks end at " +
             std::to_string(most_nodes) + ": a private contract with AWS";
    }
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

std::string next_command(const Plan& p, const Assumptions& a) {
    if (!p.chosen) return "trainyard catalog --sort efa-per-gpu";
    const Candidate& c = p.chosen->candidate;
    if (p.chosen->offer.purchase == Purchase::capacity_block) {
        return "aws ec2 describe-capacity-block-offerings --instance-type " + c.instance->type +
               " --instance-count " + std::to_string(c.nodes) + " --capacity-duration-hours " +
               std::to_string(*p.chosen->offer.block_days * 24) + " --region " +
               p.chosen->offer.region;
    }
    if (p.chosen->offer.purchase == Purchase::spot) {
        return "aws ec2 get-spot-placement-scores --instance-types " + c.instance->type +
               " --target-capacity " + std::to_string(c.nodes) +
               " --single-availability-zone --region-names " + p.chosen->offer.region;
    }
    const QuotaRule* q = a.quota(c.instance->family);
    if (q == nullptr)
        return "aws service-quotas list-service-quotas --service-code ec2 --region " +
               p.chosen->offer.region;
    return "aws service-quotas get-service-quota --service-code ec2 --quota-code " +
           q->on_demand_code + " --region " + p.chosen->offer.region;
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

}  // namespace

Result<Plan> make_plan(const Request& request, const catalog::Catalog& catalog,
                       const Assumptions& a) {
    if (auto error = check(request, catalog)) return std::move(*error);
    Plan p;
    p.work = work_of(request.job, a);
    p.budget = request.job.budget;
    const Limits limits = limits_of(request, a);
    p.deadline = request.job.deadline;
    p.name = request.job.name;
    p.job = job_line(request, p.work);

    SearchResult found = search_all(request, catalog, a);
    p.stats = found.stats;
    p.rejections = std::move(found.rejections);
    const std::vector<Option> options = all_options(found, request, p.work, catalog, a);
    const std::vector<Option> mine = allowed(options, request.job);

    Choice choice = choose(mine, limits, a);
    const Option* requested = requested_option(mine, request.job);
    prefer_requested(mine, requested, limits, a, choice);
    p.outcome = choice.outcome;
    p.only_spot = choice.only_spot;
    const Option* chosen = choice.index ? &mine[*choice.index] : nullptr;
    const Option* elsewhere = nullptr;
    if (request.job.instance) {
        const Choice free = choose(options, limits, a);
        if (free.index && options[*free.index].candidate.instance->type != *request.job.instance) {
            elsewhere = &options[*free.index];
        }
    }
    const Context x{request, catalog,      a,      p.work,    limits,
                    options, p.rejections, chosen, requested, elsewhere};
    if (chosen != nullptr) {
        p.chosen = *chosen;
        const bool sold = chosen->candidate.nodes <= a.number("block.max_total");
        if (!sold && p.outcome == Outcome::feasible) p.outcome = Outcome::tight;
        p.service = service_for(chosen->candidate, request, catalog, a,
                                saving_outside(*chosen, request.job, catalog));
    }
    if (chosen == nullptr || p.outcome == Outcome::over_budget || p.outcome == Outcome::too_slow) {
        p.shortfall = shortfall_of(mine, request, p.work, catalog, a);
    }
    p.diagnosis = diagnose(request, catalog, a);
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
    if (chosen != nullptr && request.detail == Detail::full && request.job.copies == 1 &&
        !request.job.model.opaque_params) {
        p.scaling = scaling_of(request, catalog, a, chosen->candidate);
    }
    if (chosen != nullptr) {
        p.run = make_run(*chosen, request, p.service.service, catalog, a,
                         p.scaling ? &*p.scaling : nullptr);
    }
    for (const std::string& type : request.why_not) {
        p.why_not.push_back(why_not(type, request, p.work, catalog, a, p.chosen));
    }
    p.verdict = p.diagnosis ? "Measured " + p.diagnosis->verdict
                            : verdict_of(p, a, cannot_run(request, p.work, p.rejections, options));
    p.next = next_command(p, a);
    p.warnings = cautions_of(x);
    warn_prices(p, a);
    list_assumptions(p, request, a);
    return p;
}

}  // namespace trainyard::plan
