#include "trainyard/plan/choose.hpp"

#include <algorithm>

#include "facts_price.hpp"
#include "trainyard/base/contract.hpp"
#include "trainyard/base/text.hpp"
#include "words.hpp"

namespace trainyard::plan {

std::string_view to_string(Outcome o) {
    switch (o) {
        case Outcome::feasible:
            return "feasible";
        case Outcome::tight:
            return "tight";
        case Outcome::over_budget:
            return "over-budget";
        case Outcome::too_slow:
            return "too-slow";
        case Outcome::infeasible:
            return "infeasible";
        case Outcome::does_not_fit:
            return "does-not-fit";
    }
    return "?";
}

Limits limits_of(const Request& request, const Assumptions& a) {
    Limits l;
    l.deadline_given = request.job.deadline.has_value();
    l.deadline = request.job.deadline.value_or(kNoDeadline);
    l.patience = a.number("choice.patience") * kDay;
    l.budget = request.job.budget;
    l.value_per_day = request.value_per_day;
    l.spot = request.spot_preference;
    l.independent = request.job.copies > 1;
    return l;
}

bool is_safe(const Option& o, const Limits& limits, const Assumptions& a) {
    if (is_guaranteed(o.offer.purchase)) return true;
    if (limits.spot == SpotPreference::always) return true;
    const bool small = limits.independent || o.candidate.nodes <= a.number("spot.gang_limit");
    return small && !o.offer.stale && o.offer.purchase == Purchase::spot;
}

namespace {

enum class Edge { high, expected };

bool in_time(const Option& o, const Limits& l, Edge e) {
    return (e == Edge::high ? o.offer.wall.high : o.offer.wall.expected) <= l.deadline;
}
bool in_budget(const Option& o, const Limits& l, Edge e) {
    if (!l.budget) return true;
    return to_usd(e == Edge::high ? o.offer.cost.high : o.offer.cost.expected) <= *l.budget;
}

Usd objective(const Option& o, const Limits& l) {
    Usd cost = to_usd(o.offer.cost.expected);
    if (l.value_per_day) cost += o.offer.wall.expected / kDay * *l.value_per_day;
    return cost;
}

/// Among equals in price and time: fewer nodes, then the smaller product of time and money, then
/// the simpler mapping.
bool preferred(const Option& a, const Option& b) {
    if (a.candidate.nodes != b.candidate.nodes) return a.candidate.nodes < b.candidate.nodes;
    const auto product = [](const Option& o) {
        return o.offer.wall.expected / kSecond * (to_usd(o.offer.cost.expected) / kUsd);
    };
    if (product(a) != product(b)) return product(a) < product(b);
    return complexity(a.candidate.training) < complexity(b.candidate.training);
}

/// Does `b` beat `a` on both counts by more than the noise: much faster for the same money, or
/// cheaper and no slower?
bool beaten(const Option& a, const Option& b, const Limits& l, const Assumptions& known) {
    const Usd least = 1e-6 * kUsd;  // machines of one's own may cost nothing
    const double money = std::max(objective(b, l), least) / std::max(objective(a, l), least);
    const double time = b.offer.wall.expected / a.offer.wall.expected;
    // Independent runs cost nearly the same at every node count, and the fewest nodes are easiest
    // to get: for them speed must not cost anything.
    const double same = l.independent ? 1 : 1 + known.number("choice.same_price");
    // On spot every further node must be found in the same zone: speed does not pay for that.
    const bool larger_gang =
        !is_guaranteed(b.offer.purchase) && b.candidate.nodes > a.candidate.nodes && !l.independent;
    const bool much_faster =
        !larger_gang && money <= same && time * (1 + known.number("choice.near_equal_time")) < 1;
    const bool cheaper = money * (1 + known.number("choice.near_equal")) < 1 && time <= 1;
    return much_faster || cheaper;
}

/// Options that count as equal in price with the cheapest, without those that another beats. Never
/// empty: `beaten` only leads to a shorter run, or to a cheaper one of equal length.
template <typename Accept>
std::vector<std::size_t> near_equals(const std::vector<Option>& options, const Limits& l,
                                     const Assumptions& a, Accept accept) {
    std::vector<std::size_t> equal;
    std::optional<Usd> least;
    for (const Option& o : options) {
        if (accept(o) && (!least || objective(o, l) < *least)) least = objective(o, l);
    }
    if (!least) return equal;
    // Without a deadline a shorter run is worth something: more options count as equal in price.
    const bool hurried = l.deadline_given || l.value_per_day;
    const double slack = a.number(hurried ? "choice.near_equal" : "choice.impatience");
    for (std::size_t i = 0; i < options.size(); ++i) {
        if (objective(options[i], l) <= *least * (1 + slack) && accept(options[i]))
            equal.push_back(i);
    }
    const auto patient = [&](std::size_t i) {
        return options[i].offer.wall.expected <= l.patience;
    };
    if (!l.deadline_given && std::any_of(equal.begin(), equal.end(), patient))
        std::erase_if(equal, [&](std::size_t i) { return !patient(i); });
    const std::vector<std::size_t> all = equal;
    std::erase_if(equal, [&](std::size_t i) {
        return std::any_of(all.begin(), all.end(),
                           [&](std::size_t j) { return beaten(options[i], options[j], l, a); });
    });
    return equal;
}

template <typename Accept>
std::optional<std::size_t> cheapest(const std::vector<Option>& options, const Limits& l,
                                    const Assumptions& a, Accept accept) {
    const std::vector<std::size_t> equal = near_equals(options, l, a, accept);
    if (equal.empty()) return std::nullopt;
    return *std::min_element(equal.begin(), equal.end(), [&](std::size_t x, std::size_t y) {
        return preferred(options[x], options[y]);
    });
}

Choice fall_short(const std::vector<Option>& options, const Limits& l, const Assumptions& a) {
    const auto punctual = cheapest(options, l, a, [&](const Option& o) {
        return in_time(o, l, Edge::expected) && is_safe(o, l, a);
    });
    std::optional<std::size_t> affordable;
    for (std::size_t i = 0; i < options.size(); ++i) {
        if (!in_budget(options[i], l, Edge::expected) || !is_safe(options[i], l, a)) continue;
        if (!affordable ||
            options[i].offer.wall.expected < options[*affordable].offer.wall.expected)
            affordable = i;
    }
    const double over =
        punctual && l.budget ? to_usd(options[*punctual].offer.cost.expected) / *l.budget : 1e9;
    const double late = affordable ? options[*affordable].offer.wall.expected / l.deadline : 1e9;
    constexpr double kHopeless =
        2;  // beyond twice the limit a plan would mislead: say what the money buys instead
    if (std::min(over, late) > kHopeless) return {Outcome::infeasible, std::nullopt, false};
    if (over <= late) return {Outcome::over_budget, punctual, false};
    return {Outcome::too_slow, affordable, false};
}

/// A rental beside machines that the user has.
std::string against_owned(const Option& rental, const Option& own) {
    const Usd more = to_usd(rental.offer.cost.expected) - to_usd(own.offer.cost.expected);
    const Seconds sooner = own.offer.wall.expected - rental.offer.wall.expected;
    const std::string money =
        format_usd(more >= Usd{} ? more : -1.0 * more) + (more >= Usd{} ? " more" : " less");
    const double change = sooner / own.offer.wall.expected;
    if (change < 0.01 && change > -0.01) return "rented: " + money + ", no sooner";
    return "rented: " + money + ", " +
           (change > 0 ? format_duration(sooner) + " sooner"
                       : format_duration(-1.0 * sooner) + " later");
}

}  // namespace

bool quota_comes_late(const Option& o, const Limits& l, const Assumptions& a) {
    if (o.offer.purchase != Purchase::on_demand || !l.deadline_given) return false;
    return a.number("quota.lead_low") * kDay + o.offer.wall.high > l.deadline;
}

const Option* block_in_time(const std::vector<Option>& options, const Limits& l) {
    const Option* best = nullptr;
    for (const Option& o : options) {
        if (o.offer.purchase != Purchase::capacity_block || !in_time(o, l, Edge::high) ||
            !in_budget(o, l, Edge::high))
            continue;
        if (best == nullptr || o.offer.cost.expected < best->offer.cost.expected) best = &o;
    }
    return best;
}

std::string spot_doubt(const Option& o, const Limits& l, const Assumptions& a) {
    const Offer& f = o.offer;
    const int gang = o.candidate.nodes - f.base_nodes;
    if (!l.independent && o.candidate.nodes > a.number("spot.gang_limit") && gang > 1)
        return std::to_string(gang) + " spot nodes at once in one zone";
    const std::string whose =
        f.purchase == Purchase::mixed ? "the price of its spot part is " : "spot price is ";
    if (f.stale && f.spot_stale) return whose + price_age(f.spot_source, f.spot_age_days);
    return "no guarantee";
}

Choice choose(const std::vector<Option>& options, const Limits& l, const Assumptions& a) {
    if (options.empty()) return {Outcome::does_not_fit, std::nullopt, false};
    // Nobody gets more instances at once on spot than AWS sells in Capacity Blocks.
    const double largest_gang = a.number("block.max_total");
    for (const bool only_safe : {true, false}) {
        for (const Edge edge : {Edge::high, Edge::expected}) {
            const auto pick = cheapest(options, l, a, [&](const Option& o) {
                return in_time(o, l, edge) && in_budget(o, l, edge) &&
                       (only_safe ? is_safe(o, l, a) : o.candidate.nodes <= largest_gang);
            });
            if (!pick) continue;
            const bool only_spot =
                std::none_of(options.begin(), options.end(), [&](const Option& o) {
                    return is_guaranteed(o.offer.purchase) && in_time(o, l, Edge::expected) &&
                           in_budget(o, l, Edge::expected);
                });
            const bool sure = edge == Edge::high && !only_spot;
            return {sure ? Outcome::feasible : Outcome::tight, pick, only_spot};
        }
    }
    return fall_short(options, l, a);
}

std::string why_lost(const Option& loser, const Option& winner, const Limits& l,
                     const Assumptions& a) {
    const Offer& o = loser.offer;
    if (winner.offer.purchase == Purchase::owned && o.purchase != Purchase::owned && !o.commitment)
        return against_owned(loser, winner);
    const double cost =
        to_usd(o.cost.expected) / std::max(to_usd(winner.offer.cost.expected), 0.01 * kUsd);
    if (o.commitment) {
        return "whole term is due; pays off above " +
               format_fixed(o.commitment->break_even * 100, 0) + " % use";
    }
    if (!in_time(loser, l, Edge::expected))
        return format_duration(o.wall.expected - l.deadline) + " past the deadline";
    if (!in_budget(loser, l, Edge::expected)) {
        return format_usd(to_usd(o.cost.expected) - *l.budget) + " over the budget";
    }
    // A winner that leans on spot itself has no such advantage.
    if (!is_guaranteed(o.purchase) && !is_safe(loser, l, a) && is_safe(winner, l, a))
        return (cost < 0.995 ? percent(1 - cost) + " less, but " : "") + spot_doubt(loser, l, a);
    if (!in_time(loser, l, Edge::high))
        return "up to " + format_duration(o.wall.high - l.deadline) + " late";
    if (!in_budget(loser, l, Edge::high))
        return "up to " + format_usd(to_usd(o.cost.high) - *l.budget) + " over budget";
    if (cost >= 3) return "costs " + times(cost) + " as much";
    if (cost > 1) {
        const Seconds sooner = winner.offer.wall.expected - o.wall.expected;
        const bool much = sooner > 0.2 * winner.offer.wall.expected &&
                          loser.candidate.instance == winner.candidate.instance;
        return "costs " + more(cost) + " more" +
               (much ? " for " + format_duration(sooner) + " less" : "");
    }
    const std::string saving = more(1 / std::max(cost, 1e-6)) + " less money";
    if (loser.candidate.nodes > winner.candidate.nodes) {
        return std::to_string(loser.candidate.nodes - winner.candidate.nodes) + " more nodes for " +
               saving;
    }
    const double slower = o.wall.expected / winner.offer.wall.expected;
    if (slower >= 2)
        return times(slower) + " the time, saves " +
               format_usd(to_usd(winner.offer.cost.expected) - to_usd(o.cost.expected));
    if (slower > 1) return more(slower) + " slower for " + saving;
    if (cost < 0.98)
        return "saves " + format_usd(to_usd(winner.offer.cost.expected) - to_usd(o.cost.expected)) +
               " and is no slower";
    return "equal within the error";
}

std::vector<Option> pareto_front(const std::vector<Option>& options) {
    std::vector<Option> sorted = options;
    std::stable_sort(sorted.begin(), sorted.end(), [](const Option& x, const Option& y) {
        if (x.offer.wall.expected != y.offer.wall.expected)
            return x.offer.wall.expected < y.offer.wall.expected;
        return x.offer.cost.expected < y.offer.cost.expected;
    });
    std::vector<Option> front;
    for (Option& o : sorted) {
        if (front.empty() || o.offer.cost.expected < front.back().offer.cost.expected)
            front.push_back(std::move(o));
    }
    return front;
}

}  // namespace trainyard::plan
