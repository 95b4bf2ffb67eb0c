#include "uniform_progress.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace trainyard::spot {
namespace {

// A product of two times of up to a million hours needs 104 bits.
__extension__ using Wide = __int128;

Micros ceil_divide(Micros a, Micros b) { return a <= 0 ? 0 : (a - 1) / b + 1; }
Micros floor_divide(Micros a, Micros b) { return a >= 0 ? a / b : -((-a - 1) / b) - 1; }

bool is_paid_anyway(const PoolView& pool) {
    return pool.purchase == Purchase::reserved || pool.purchase == Purchase::capacity_block;
}

/// Fills up to `missing` nodes from the pools of one kind, those held first, then the cheapest.
void take(const View& view, Purchase kind, int& missing, Decision& decision) {
    while (missing > 0) {
        const PoolView* best = nullptr;
        for (const PoolView& pool : view.pools) {
            const auto i = static_cast<std::size_t>(&pool - view.pools.data());
            if (pool.purchase != kind || decision.nodes[i] > 0 || pool.available <= 0) continue;
            const bool is_better =
                best == nullptr || (pool.held > 0) > (best->held > 0) ||
                ((pool.held > 0) == (best->held > 0) && pool.usd_per_hour < best->usd_per_hour);
            if (is_better) best = &pool;
        }
        if (best == nullptr) return;
        const int nodes = std::min(missing, best->available);
        decision.nodes[static_cast<std::size_t>(best - view.pools.data())] = nodes;
        missing -= nodes;
    }
}

}  // namespace

Micros to_micros(Seconds t) {
    // A million hours; beyond it nothing that we play ends.
    constexpr double kLimit = 3.6e15;
    return std::llround(std::clamp(t / kMicrosecond, -kLimit, kLimit));
}

bool no_slack(const Moment& m, int restarts) {
    if (!m.deadline) return false;
    const Micros needed = m.work - m.done + restarts * m.restart;
    return ceil_divide(needed, m.tick) >= floor_divide(*m.deadline - m.now, m.tick);
}

bool is_behind(const Moment& m) {
    return m.deadline && Wide{m.done} * *m.deadline < Wide{m.now} * m.work;
}

bool is_ahead(const Moment& m) {
    return !m.deadline || Wide{m.done} * *m.deadline > Wide{m.now + 2 * m.restart} * m.work;
}

std::optional<Hold> safety_net(const Moment& m) {
    if (!no_slack(m, 1)) return std::nullopt;
    const bool works = m.held == Hold::spot && m.overhead_left == 0 && m.spot_available;
    return works ? Hold::spot : Hold::on_demand;
}

Hold greedy(const Moment& m) {
    if (const auto net = safety_net(m)) return *net;
    return m.spot_available ? Hold::spot : Hold::none;
}

Hold uniform_progress(const Moment& m, bool hysteresis) {
    if (const auto net = safety_net(m)) return *net;
    // A restart on spot and a second one on demand must still fit.
    if (m.held != Hold::spot && no_slack(m, 2)) return Hold::on_demand;
    if (hysteresis && m.held == Hold::on_demand && (!m.spot_available || !is_ahead(m))) {
        return Hold::on_demand;
    }
    if (m.spot_available) return Hold::spot;
    return is_behind(m) ? Hold::on_demand : Hold::none;
}

Moment moment_of(const View& view) {
    Moment m;
    m.now = to_micros(view.now);
    if (std::isfinite(view.deadline / kSecond)) m.deadline = to_micros(view.deadline);
    m.work = to_micros(view.work);
    m.done = to_micros(view.done);
    m.restart = to_micros(view.restart);
    m.overhead_left = to_micros(view.overhead_left);
    if (m.overhead_left < kAlmostNothing) m.overhead_left = 0;
    m.tick = std::max<Micros>(to_micros(view.tick), 1);
    int missing = view.nodes;
    int spot = 0;
    bool holds_spot = false;
    bool holds_on_demand = false;
    for (const PoolView& pool : view.pools) {
        if (is_paid_anyway(pool)) missing -= pool.available;
        if (pool.purchase == Purchase::spot) {
            spot += pool.available;
            holds_spot = holds_spot || pool.held > 0;
        }
        if (pool.purchase == Purchase::on_demand) {
            holds_on_demand = holds_on_demand || pool.held > 0;
        }
    }
    m.spot_available = spot > 0 && spot >= missing;
    if (holds_on_demand) {
        m.held = Hold::on_demand;
    } else if (holds_spot && m.spot_available) {
        m.held = Hold::spot;
    }
    return m;
}

void hold(const View& view, Hold wanted, Decision& decision) {
    std::fill(decision.nodes.begin(), decision.nodes.end(), 0);
    int missing = view.nodes;
    take(view, Purchase::reserved, missing, decision);
    take(view, Purchase::capacity_block, missing, decision);
    if (wanted == Hold::none) return;
    const bool spot_first = wanted == Hold::spot;
    take(view, spot_first ? Purchase::spot : Purchase::on_demand, missing, decision);
    take(view, spot_first ? Purchase::on_demand : Purchase::spot, missing, decision);
}

Seconds next_question(const Moment& m, bool only_net) {
    if (!m.deadline) return std::numeric_limits<double>::infinity() * kSecond;
    if (m.tick > 1) return static_cast<double>(m.now + m.tick) * kMicrosecond;
    Micros next = std::numeric_limits<Micros>::max();
    const auto at = [&](Micros time) {
        if (time > m.now) next = std::min(next, time);
    };
    const Micros left = m.work - m.done;
    at(*m.deadline - left - m.restart);
    if (!only_net) {
        at(*m.deadline - left - 2 * m.restart);
        if (m.held == Hold::none && m.work > 0) {
            at(static_cast<Micros>(Wide{m.done} * *m.deadline / m.work) + 1);
        }
        // Progress gains on the line by at most 1 - work / deadline per second.
        if (m.held == Hold::on_demand && *m.deadline > m.work) {
            const Wide gap = Wide{m.now + 2 * m.restart} * m.work - Wide{m.done} * *m.deadline;
            if (gap >= 0) at(m.now + static_cast<Micros>(gap / (*m.deadline - m.work)) + 1);
            const Wide line = Wide{m.now} * m.work - Wide{m.done} * *m.deadline;
            if (line >= 0) at(m.now + static_cast<Micros>(line / (*m.deadline - m.work)) + 1);
        }
    }
    if (next == std::numeric_limits<Micros>::max()) {
        return std::numeric_limits<double>::infinity() * kSecond;
    }
    return static_cast<double>(next) * kMicrosecond;
}

}  // namespace trainyard::spot
