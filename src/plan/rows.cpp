#include "rows.hpp"

#include <algorithm>
#include <map>

#include "trainyard/base/text.hpp"
#include "words.hpp"

namespace trainyard::plan {
namespace {

bool cheaper(const Option* a, const Option* b) {
    if (a->offer.cost.expected != b->offer.cost.expected)
        return a->offer.cost.expected < b->offer.cost.expected;
    return a->offer.wall.expected < b->offer.wall.expected;
}

/// 2: meets both limits with the whole range; 1: in expectation; 0: not.
int fitness(const Context& x, const Option& o) {
    const auto ok = [&](Seconds t, MicroUsd m) {
        return t <= x.limits.deadline && (!x.limits.budget || to_usd(m) <= *x.limits.budget);
    };
    if (ok(o.offer.wall.high, o.offer.cost.high)) return 2;
    return ok(o.offer.wall.expected, o.offer.cost.expected) ? 1 : 0;
}
bool punctual(const Context& x, const Option& o) {
    return o.offer.wall.expected <= x.limits.deadline;
}

/// Best of each type: in time first, then safe, then cheap.
std::vector<const Option*> best_of_types(const Context& x) {
    std::map<std::string, const Option*> best;
    const auto better = [&](const Option& a, const Option& b) {
        const bool sa = is_safe(a, x.limits, x.assumptions);
        const bool sb = is_safe(b, x.limits, x.assumptions);
        if (sa != sb) return sa;
        if (fitness(x, a) != fitness(x, b)) return fitness(x, a) > fitness(x, b);
        if (punctual(x, a) != punctual(x, b)) return punctual(x, a);
        if (!punctual(x, a)) return a.offer.wall.expected < b.offer.wall.expected;
        return cheaper(&a, &b);
    };
    for (const Option& o : x.options) {
        if (o.offer.commitment) continue;
        if (x.chosen == nullptr && !is_safe(o, x.limits, x.assumptions)) continue;
        const Option*& kept = best[o.candidate.instance->type];
        if (kept == nullptr || better(o, *kept)) kept = &o;
    }
    std::vector<const Option*> out;
    for (const auto& [type, o] : best) out.push_back(o);
    std::sort(out.begin(), out.end(), [&](const Option* a, const Option* b) {
        if (fitness(x, *a) != fitness(x, *b)) return fitness(x, *a) > fitness(x, *b);
        if (punctual(x, *a) != punctual(x, *b)) return punctual(x, *a);
        return cheaper(a, b);
    });
    return out;
}

/// Cheaper and faster in expectation than the chosen one, and refused for its tail or its type: the
/// table owes the reader the reason.
const Option* better_but_risky(const Context& x) {
    const Option* best = nullptr;
    const Offer& mine = x.chosen->offer;
    for (const Option& o : x.options) {
        if (!is_guaranteed(o.offer.purchase) || o.offer.commitment) continue;
        if (o.offer.cost.expected >= mine.cost.expected ||
            o.offer.wall.expected >= mine.wall.expected)
            continue;
        if (best == nullptr || cheaper(&o, best)) best = &o;
    }
    return best;
}

/// The same type on guaranteed capacity for less money: what waiting would save.
const Option* cheaper_of_type(const Context& x) {
    const Option* best = nullptr;
    for (const Option& o : x.options) {
        if (o.candidate.instance != x.chosen->candidate.instance || o.offer.commitment) continue;
        if (!is_guaranteed(o.offer.purchase) || fitness(x, o) == 0) continue;
        if (o.offer.cost.expected >= x.chosen->offer.cost.expected) continue;
        if (best == nullptr || cheaper(&o, best)) best = &o;
    }
    return best;
}

/// The same type, nearly the same money, and the shortest time that it buys.
const Option* faster_of_type(const Context& x) {
    const Option* best = nullptr;
    const double most = 1 + x.assumptions.number("choice.near_equal");
    for (const Option& o : x.options) {
        if (o.candidate.instance != x.chosen->candidate.instance || o.offer.commitment) continue;
        if (!is_guaranteed(o.offer.purchase) || fitness(x, o) == 0) continue;
        if (to_usd(o.offer.cost.expected) > most * to_usd(x.chosen->offer.cost.expected)) continue;
        if (o.offer.wall.expected >= x.chosen->offer.wall.expected) continue;
        if (best == nullptr || o.offer.wall.expected < best->offer.wall.expected) best = &o;
    }
    return best;
}

std::string lost_text(const Context& x, const Option& o) {
    const bool other_type = !x.request.have && x.request.job.instance &&
                            o.candidate.instance->type != *x.request.job.instance;
    const bool cheaper_elsewhere =
        o.offer.cost.expected < x.chosen->offer.cost.expected && fitness(x, o) > 0;
    if (other_type && cheaper_elsewhere && is_safe(o, x.limits, x.assumptions)) {
        return "saves " +
               format_usd(to_usd(x.chosen->offer.cost.expected) - to_usd(o.offer.cost.expected)) +
               "; not the type you named";
    }
    return why_lost(o, *x.chosen, x.limits, x.assumptions);
}

/// The cheapest and the fastest that a refusal quotes, within the type the user named.
void add_quoted(const Context& x, std::vector<const Option*>& out) {
    const Option* least = nullptr;
    const Option* quick = nullptr;
    for (const Option& o : x.options) {
        const auto& named = x.request.job.instance;
        if (named && o.candidate.instance->type != *named) continue;
        if (x.request.job.nodes && o.candidate.nodes > *x.request.job.nodes) continue;
        if (o.offer.commitment || !is_safe(o, x.limits, x.assumptions)) continue;
        if (least == nullptr || o.offer.cost.expected < least->offer.cost.expected) least = &o;
        if (quick == nullptr || o.offer.wall.expected < quick->offer.wall.expected) quick = &o;
    }
    const Option* spot = nullptr;
    for (const Option& o : x.options) {
        const bool sold = o.candidate.nodes <= x.assumptions.number("block.max_total");
        const auto& named = x.request.job.instance;
        if (is_guaranteed(o.offer.purchase) || !sold || !punctual(x, o)) continue;
        if (named && o.candidate.instance->type != *named) continue;
        if (x.request.job.nodes && o.candidate.nodes > *x.request.job.nodes) continue;
        if (spot == nullptr || cheaper(&o, spot)) spot = &o;
    }
    if (spot != nullptr) out.push_back(spot);
    if (least != nullptr) out.push_back(least);
    if (quick != nullptr && quick != least) out.push_back(quick);
}

}  // namespace

std::vector<Row> rows_of(const Context& x) {
    std::vector<const Option*> picked;
    const auto add = [&](const Option* o) {
        if (o == nullptr || picked.size() >= kMaxRows) return;
        // The chosen and the named option are copies of one of the list.
        const auto same = [o](const Option* p) { return p->number == o->number; };
        if (std::none_of(picked.begin(), picked.end(), same)) picked.push_back(o);
    };
    add(x.chosen);
    if (x.chosen != nullptr) {
        for (Purchase p :
             {Purchase::on_demand, Purchase::capacity_block, Purchase::mixed, Purchase::spot}) {
            if (p != x.chosen->offer.purchase) add(same_cluster(x, *x.chosen, p));
        }
        add(x.requested);
        add(x.elsewhere);
        add(better_but_risky(x));
        add(cheaper_of_type(x));
        add(faster_of_type(x));
    }
    if (x.chosen == nullptr) add_quoted(x, picked);
    for (const Option* o : best_of_types(x)) {
        if (x.chosen != nullptr && o->candidate.instance == x.chosen->candidate.instance) continue;
        add(o);
    }
    if (picked.size() > 1) {
        std::sort(picked.begin() + (x.chosen != nullptr ? 1 : 0), picked.end(), cheaper);
    }
    std::vector<Row> rows;
    for (const Option* o : picked) {
        Row row{*o, {}};
        if (x.chosen != nullptr && o != x.chosen) row.lost = lost_text(x, *o);
        if (x.chosen == nullptr) {
            if (x.limits.budget && to_usd(o->offer.cost.expected) > *x.limits.budget) {
                row.lost = times(to_usd(o->offer.cost.expected) / *x.limits.budget) + " the budget";
            }
            if (!punctual(x, *o)) {
                row.lost += (row.lost.empty() ? "" : ", ") +
                            format_duration(o->offer.wall.expected - x.limits.deadline) + " late";
            }
            if (!is_safe(*o, x.limits, x.assumptions)) {
                row.lost +=
                    (row.lost.empty() ? "" : ", ") + spot_doubt(*o, x.limits, x.assumptions);
            }
        }
        rows.push_back(std::move(row));
    }
    return rows;
}

}  // namespace trainyard::plan
