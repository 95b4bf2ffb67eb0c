// A job that can't be done as asked: by what factor, and what the money or the time would buy.

#include <algorithm>
#include <cmath>

#include "trainyard/base/text.hpp"
#include "trainyard/plan/choose.hpp"
#include "trainyard/plan/explain.hpp"
#include "words.hpp"

namespace trainyard::plan {
namespace {

const Option* cheapest(const std::vector<Option>& options, const Limits& l, const Assumptions& a) {
    const Option* best = nullptr;
    for (const Option& o : options) {
        if (!is_safe(o, l, a) || o.offer.commitment) continue;
        if (best == nullptr || o.offer.cost.expected < best->offer.cost.expected) best = &o;
    }
    return best;
}

const Option* smallest_in_time(const std::vector<Option>& options, const Limits& l,
                               const Assumptions& a) {
    const Option* best = nullptr;
    for (const Option& o : options) {
        if (!is_safe(o, l, a) || o.offer.commitment || o.offer.wall.expected > l.deadline) continue;
        if (best == nullptr || o.offer.cost.expected < best->offer.cost.expected) best = &o;
    }
    return best;
}

/// Cheapest in time of the offers that a verdict does not rest on; no larger than what AWS sells at
/// once.
const Option* cheapest_on_spot(const std::vector<Option>& options, const Limits& l,
                               const Assumptions& a) {
    const Option* best = nullptr;
    for (const Option& o : options) {
        const bool sold = o.candidate.nodes <= a.number("block.max_total");
        if (is_guaranteed(o.offer.purchase) || !sold || o.offer.wall.expected > l.deadline)
            continue;
        if (best == nullptr || o.offer.cost.expected < best->offer.cost.expected) best = &o;
    }
    return best;
}

void spot_text(Shortfall& s, const std::vector<Option>& options, const Limits& l,
               const Assumptions& a) {
    const Option* spot = cheapest_on_spot(options, l, a);
    const Option* firm = smallest_in_time(options, l, a);
    if (spot == nullptr ||
        (firm != nullptr && firm->offer.cost.expected <= spot->offer.cost.expected))
        return;
    s.spot = *spot;
    std::string text = std::string(l.deadline_given ? "in time " : "") + "on spot, " +
                       describe_cluster(spot->candidate) + " " + purchase_words(spot->offer) +
                       ": " + money(spot->offer.cost.expected) + " in " +
                       format_duration(spot->offer.wall.expected);
    if (l.budget)
        text += ", " + times(to_usd(spot->offer.cost.expected) / *l.budget) + " the budget";
    s.text.push_back(text + "; risk: " + spot_doubt(*spot, l, a));
}

std::string scopes(double flop, double own) {
    // What else the same FLOPs would train, by 6 N T (Kaplan et al., arXiv 2001.08361, sec. 2.1).
    std::string s;
    for (const double params : {8e9, 70e9}) {
        const double tokens = flop / (6 * params);
        if (tokens < 1e9 || (own > params / 1.3 && own < params * 1.3)) continue;
        s += (s.empty() ? "" : ", or ") + ((params == 8e9 ? "an " : "a ") + format_count(params) +
                                           " model on " + format_count(tokens) + " tokens");
    }
    return s;
}

void money_text(Shortfall& s, const Request& request, const Work& work, const Option& least) {
    if (!request.job.budget) return;
    const double share = *request.job.budget / to_usd(least.offer.cost.expected);
    s.cost_factor = 1 / share;
    s.tokens_affordable = work.tokens() * share;
    s.flop_affordable = s.flop_needed * share;
    if (share >= 1) return;
    s.text.push_back(std::string(request.have ? "your cheapest way"
                                              : "the cheapest way on guaranteed capacity") +
                     std::string(s.cheapest_is_late ? ", the deadline aside," : "") + " costs " +
                     money(least.offer.cost.expected) + " (" + describe_cluster(least.candidate) +
                     ", " + format_duration(least.offer.wall.expected) + "), " +
                     times(s.cost_factor) + " the budget of " + format_usd(*request.job.budget));
    std::string buys = "at that price " + format_usd(*request.job.budget) + " buys about " +
                       format_count(s.accelerator_hours * share) + " " +
                       device_name(*least.candidate.accelerator) + "-hours: this model on " +
                       format_count(s.tokens_affordable) + " tokens";
    const std::string other = scopes(s.flop_affordable, work.params);
    if (!other.empty()) buys += ", " + other;
    s.text.push_back(buys + "; or fine-tune an open model of this size");
}

}  // namespace

std::string cannot_run(const Request& request, const Work& work,
                       const std::vector<Rejection>& rejections,
                       const std::vector<Option>& others) {
    const workload::Model& m = request.job.model;
    if (m.learned_positions && work.sequence > m.max_positions) {
        return "a sequence of " + grouped(work.sequence) + " is longer than the " +
               grouped(m.max_positions) + " learned positions of " + m.name;
    }
    std::optional<std::string> named = request.job.instance;
    std::optional<int> count = request.job.nodes;
    if (request.have) {
        named = request.have->instance;
        count = request.have->nodes;
    }
    if (!named) return "no instance type in the allowed regions can run this job";
    std::string s =
        (count ? plural(*count, "node") + " of " : "") + *named + " can not run this job";
    for (const Rejection& r : rejections) {
        if (r.instance != *named) continue;
        s += ": it " + r.text;
        break;
    }
    const Option* best = nullptr;
    for (const Option& o : others) {
        if (!is_guaranteed(o.offer.purchase) || o.offer.commitment) continue;
        if (o.candidate.instance->type == *named) continue;
        if (request.job.deadline && o.offer.wall.expected > *request.job.deadline) continue;
        if (best == nullptr || o.offer.cost.expected < best->offer.cost.expected) best = &o;
    }
    if (best != nullptr)
        s += "; " + describe_cluster(best->candidate) + " can, for " +
             money(best->offer.cost.expected) + " in " + format_duration(best->offer.wall.expected);
    return s;
}

namespace {

/// What to change when no cluster runs the job at all.
std::string nothing_runs(const Request& request, const Work& work) {
    const workload::Model& m = request.job.model;
    if (m.learned_positions && work.sequence > m.max_positions)
        return "--seq " + std::to_string(m.max_positions) +
               " or less, or a model with rotary positions";
    if (request.have)
        return "rent (the table), or train adapters, a smaller model or a shorter sequence on "
               "your own machines";
    if (request.job.instance) return "leave out --instance, or name a type of the table";
    return "no instance type holds the model: shard over more nodes, use LoRA, or a smaller model";
}

/// What the deadline takes, or by how much the fastest plan misses it.
void deadline_text(Shortfall& s, const std::vector<Option>& options, const Option& least,
                   const Limits& l, const Assumptions& a) {
    const Option* fast = smallest_in_time(options, l, a);
    if (fast != nullptr) {
        s.devices_needed = fast->candidate.devices();
        s.text.push_back(
            "the deadline of " + format_duration(l.deadline) + " needs " +
            grouped(*s.devices_needed) + " " + device_name(*fast->candidate.accelerator) + " (" +
            describe_cluster(fast->candidate) + ", " + money(fast->offer.cost.expected) + ")");
        const double total = a.number("block.max_total");
        if (fast->candidate.nodes > total) {
            s.text.push_back("that many are not obtainable on demand: Capacity Blocks end at " +
                             format_fixed(total, 0) +
                             " instances in all; this is a private contract with AWS");
        }
    } else {
        const Option* quick = &least;
        for (const Option& o : options) {
            if (is_safe(o, l, a) && !o.offer.commitment &&
                o.offer.wall.expected < quick->offer.wall.expected)
                quick = &o;
        }
        const Seconds best = quick->offer.wall.expected;
        s.time_factor = best / l.deadline;
        s.text.push_back("the fastest plan found, " + describe_cluster(quick->candidate) +
                         ", takes " + format_duration(best) + ", " +
                         format_duration(best - l.deadline) + " past the deadline of " +
                         format_duration(l.deadline));
    }
}

/// The fastest plan within the budget, if that one is late.
void affordable_text(Shortfall& s, const std::vector<Option>& options, const Limits& l,
                     const Assumptions& a) {
    const Option* affordable = nullptr;
    for (const Option& o : options) {
        if (to_usd(o.offer.cost.expected) > *l.budget || !is_safe(o, l, a)) continue;
        if (affordable == nullptr || o.offer.wall.expected < affordable->offer.wall.expected)
            affordable = &o;
    }
    if (affordable != nullptr && affordable->offer.wall.expected > l.deadline) {
        s.time_factor = affordable->offer.wall.expected / l.deadline;
        s.text.push_back("within the budget the fastest plan takes " +
                         format_duration(affordable->offer.wall.expected) + " (" +
                         describe_cluster(affordable->candidate) + ", " +
                         money(affordable->offer.cost.expected) + ")");
    }
}

}  // namespace

Shortfall shortfall_of(const std::vector<Option>& options, const Request& request, const Work& work,
                       const catalog::Catalog& catalog, const Assumptions& a) {
    (void)catalog;
    Shortfall s;
    const Limits l = limits_of(request, a);
    const Option* least = cheapest(options, l, a);
    if (least == nullptr) {
        s.text.push_back(nothing_runs(request, work));
        return s;
    }
    s.cheapest = least->offer.cost.expected;
    s.flop_needed = least->candidate.steps * least->candidate.prediction.model_flop / kFlop;
    const double digits = std::floor(std::log10(std::max(1.0, s.flop_needed)));
    s.cheapest_is_late = least->offer.wall.expected > l.deadline;
    // From launch to end, as billed.
    s.accelerator_hours = least->offer.wall.expected / kHour * least->candidate.nodes *
                          least->candidate.instance->accelerators;
    s.text.push_back("the job is " + format_fixed(s.flop_needed / std::pow(10, digits), 1) + "e" +
                     format_fixed(digits, 0) + " FLOP, about " + format_count(s.accelerator_hours) +
                     " " + device_name(*least->candidate.accelerator) +
                     "-hours from launch to end");
    money_text(s, request, work, *least);
    spot_text(s, options, l, a);
    if (l.deadline_given) deadline_text(s, options, *least, l, a);
    if (l.deadline_given && s.time_factor == 0 && request.job.budget)
        affordable_text(s, options, l, a);
    if (request.job.budget) {
        s.text.push_back(
            "the figures above are expected values; \"Next\" keeps the limits at the "
            "slow and dear end of the range, on at most " +
            format_fixed(a.number("block.max_total"), 0) + " instances, so it asks for more");
    }
    return s;
}

}  // namespace trainyard::plan
