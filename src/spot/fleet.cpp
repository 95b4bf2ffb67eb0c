#include "fleet.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "trainyard/base/contract.hpp"

namespace trainyard::spot {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kLeastCharge = 60;
constexpr double kHourSeconds = 3600;

}  // namespace

double charged_seconds(double age, bool per_second) {
    if (per_second) return std::max(age, kLeastCharge);
    return std::max(1.0, std::ceil(age / kHourSeconds)) * kHourSeconds;
}

Fleet::Fleet(const RunSpec& spec, std::vector<Market>& markets)
    : spec_(spec), markets_(markets), held_(spec.pools.size()) {
    quantum_ = spec.rules.per_second ? kLeastCharge : kHourSeconds;
    groups_.reserve(64);
}

void Fleet::begin() {
    groups_.clear();
    std::fill(held_.begin(), held_.end(), 0);
    total_ = members_ = 0;
    next_ready_ = next_death_ = kInfinity;
    money_ = {};
    std::fill(std::begin(node_hours_), std::end(node_hours_), 0.0);
}

void Fleet::launch(std::size_t pool, int nodes, double now, double delay, double boot) {
    Group group;
    group.pool = pool;
    group.nodes = nodes;
    group.launched = now + delay;
    group.ready = group.launched + boot;
    group.mark = markets_[pool].paid(group.launched);
    group.dies = kInfinity;
    groups_.push_back(group);
    held_[pool] += nodes;
    total_ += nodes;
}

void Fleet::close(const Group& group, int nodes, double now, Leaving why) {
    const double age = std::max(0.0, now - group.launched);
    const Purchase purchase = spec_.pools[group.pool].purchase;
    node_hours_[static_cast<std::size_t>(purchase)] += nodes * age / kHourSeconds;
    if (purchase == Purchase::capacity_block) return;  // paid up front
    const double charged = charged_seconds(age, spec_.rules.per_second);
    const double run = markets_[group.pool].paid(now) - group.mark;
    // What is charged beyond the life is at the mean price of the life.
    const double each = age > 0 ? run * charged / age : markets_[group.pool].price() * charged;
    const Usd bill = nodes * each * kUsd;
    switch (purchase) {
        case Purchase::spot:
            if (spec_.rules.first_hour_free && why == Leaving::interrupted && age < kHourSeconds) {
                money_.forgiven += bill;
            } else {
                money_.spot += bill;
            }
            break;
        case Purchase::on_demand:
            money_.on_demand += bill;
            break;
        case Purchase::reserved:
            money_.reserved += bill;
            break;
        case Purchase::capacity_block:
            break;
    }
}

/// Removes `nodes` of a group; the order of the others does not change.
Lost Fleet::take(std::size_t index, int nodes, double now, Leaving why) {
    Group& group = groups_[index];
    close(group, nodes, now, why);
    const Lost lost{nodes, group.member ? nodes : 0};
    held_[group.pool] -= nodes;
    total_ -= nodes;
    members_ -= lost.members;
    group.nodes -= nodes;
    if (group.nodes == 0) groups_.erase(groups_.begin() + static_cast<std::ptrdiff_t>(index));
    return lost;
}

int Fleet::release_outsiders(std::size_t pool, int nodes, double now) {
    for (std::size_t i = groups_.size(); i-- > 0 && nodes > 0;) {
        if (groups_[i].pool != pool || groups_[i].member) continue;
        nodes -= take(i, std::min(nodes, groups_[i].nodes), now, Leaving::released).nodes;
    }
    return nodes;
}

int Fleet::release(std::size_t pool, int nodes, double now) {
    nodes = release_outsiders(pool, nodes, now);
    int members = 0;
    for (std::size_t i = groups_.size(); i-- > 0 && nodes > 0;) {
        if (groups_[i].pool != pool) continue;
        const Lost gone = take(i, std::min(nodes, groups_[i].nodes), now, Leaving::released);
        nodes -= gone.nodes;
        members += gone.members;
    }
    return members;
}

std::size_t Fleet::node_at(std::size_t pool, int which) const {
    for (std::size_t i = 0; i < groups_.size(); ++i) {
        if (groups_[i].pool != pool) continue;
        which -= groups_[i].nodes;
        if (which < 0) return i;
    }
    TRAINYARD_ASSERT(false, "a node is looked for among those held");
    return 0;
}

Lost Fleet::lose(std::size_t pool, int count, double now, Leaving why, Random& random) {
    Lost lost;
    const auto add = [&](Lost one) {
        lost.nodes += one.nodes;
        lost.members += one.members;
    };
    if (count >= held_[pool]) {
        for (std::size_t i = groups_.size(); i-- > 0;) {
            if (groups_[i].pool == pool) add(take(i, groups_[i].nodes, now, why));
        }
        return lost;
    }
    for (; count > 0; --count) {
        const auto which = random.below(static_cast<std::uint32_t>(held_[pool]));
        add(take(node_at(pool, static_cast<int>(which)), 1, now, why));
    }
    return lost;
}

bool Fleet::doom(std::size_t pool, double dies, Random& random) {
    const auto which = random.below(static_cast<std::uint32_t>(held_[pool]));
    const std::size_t index = node_at(pool, static_cast<int>(which));
    if (groups_[index].dies < kInfinity) return false;
    Group one = groups_[index];
    one.nodes = 1;
    one.dies = dies;
    if (--groups_[index].nodes == 0) {
        groups_[index] = one;
    } else {
        groups_.push_back(one);
    }
    return one.member;
}

Lost Fleet::lose_doomed(double now) {
    Lost lost;
    for (std::size_t i = groups_.size(); i-- > 0;) {
        if (groups_[i].dies > now) continue;
        const Lost one = take(i, groups_[i].nodes, now, Leaving::interrupted);
        lost.nodes += one.nodes;
        lost.members += one.members;
    }
    return lost;
}

int Fleet::members_of(std::size_t pool) const {
    int n = 0;
    for (const Group& g : groups_)
        if (g.pool == pool && g.member) n += g.nodes;
    return n;
}

void Fleet::enlist(double now, int most) {
    for (std::size_t i = 0; i < groups_.size(); ++i) {
        Group& g = groups_[i];
        if (g.member || !usable(g, now) || members_ >= most) continue;
        if (g.nodes > most - members_) {
            Group rest = g;
            rest.nodes -= most - members_;
            g.nodes = most - members_;
            g.member = true;
            members_ += g.nodes;
            groups_.push_back(rest);
            return;
        }
        g.member = true;
        members_ += g.nodes;
    }
}

void Fleet::dismiss() {
    for (Group& g : groups_) g.member = false;
    members_ = 0;
}

void Fleet::mark_keepers() {
    for (Group& g : groups_) g.keeper = g.keeper || g.member;
}

bool Fleet::keeps_state() const {
    return std::any_of(groups_.begin(), groups_.end(), [](const Group& g) { return g.keeper; });
}

bool Fleet::usable(const Group& group, double now) const {
    return group.ready <= now && group.dies == kInfinity && !markets_[group.pool].noticed();
}

int Fleet::doomed_members() const {
    int nodes = 0;
    for (const Group& g : groups_)
        if (g.member && (g.dies < kInfinity || markets_[g.pool].noticed())) nodes += g.nodes;
    return nodes;
}

double Fleet::first_doom() const {
    double first = kInfinity;
    for (const Group& g : groups_) {
        if (!g.member) continue;
        const Market& market = markets_[g.pool];
        first = std::min({first, g.dies, market.noticed() ? market.loss_at() : kInfinity});
    }
    return first;
}

void Fleet::look_ahead(double now) {
    next_ready_ = next_death_ = kInfinity;
    for (const Group& g : groups_) {
        if (g.ready > now) next_ready_ = std::min(next_ready_, g.ready);
        next_death_ = std::min(next_death_, g.dies);
    }
}

double Fleet::owed_at_most(double now) const {
    double owed = money_.total() / kUsd;
    for (const Group& g : groups_) {
        if (spec_.pools[g.pool].purchase == Purchase::capacity_block) continue;
        const Market& market = markets_[g.pool];
        owed +=
            g.nodes * (std::max(0.0, market.paid(now) - g.mark) + quantum_ * market.most_price());
    }
    return owed;
}

double Fleet::rate() const {
    double rate = 0;
    for (std::size_t i = 0; i < held_.size(); ++i) {
        if (spec_.pools[i].purchase != Purchase::capacity_block)
            rate += held_[i] * markets_[i].price();
    }
    return rate;
}

double Fleet::most_rate() const {
    double rate = 0;
    for (std::size_t i = 0; i < held_.size(); ++i) {
        if (spec_.pools[i].purchase != Purchase::capacity_block)
            rate += held_[i] * markets_[i].most_price();
    }
    return rate;
}

void Fleet::close_all(double now) {
    for (std::size_t i = groups_.size(); i-- > 0;)
        take(i, groups_[i].nodes, now, Leaving::released);
}

}  // namespace trainyard::spot
