#include "trainyard/spot/stats.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace trainyard::spot {

namespace {

/// Ages at which the table of survival is cut, hours.
constexpr double kAges[] = {0, 0.25, 0.5, 1, 2, 4, 8, 16, 24};

/// Quantile by linear interpolation between order statistics.
Seconds quantile(const std::vector<double>& sorted, double q) {
    if (sorted.empty()) return {};
    const double at = q * static_cast<double>(sorted.size() - 1);
    const auto below = static_cast<std::size_t>(at);
    const std::size_t above = std::min(below + 1, sorted.size() - 1);
    const double part = at - static_cast<double>(below);
    return (sorted[below] * (1 - part) + sorted[above] * part) * kSecond;
}

RunLengths lengths(const std::vector<Life>& lives) {
    std::vector<double> times;
    double total = 0;
    for (const Life& life : lives) {
        times.push_back(life.time.base());
        total += life.time.base();
    }
    std::sort(times.begin(), times.end());
    RunLengths out;
    out.count = static_cast<int>(times.size());
    if (times.empty()) return out;
    out.mean = total / static_cast<double>(times.size()) * kSecond;
    out.median = quantile(times, 0.5);
    out.p90 = quantile(times, 0.9);
    out.longest = times.back() * kSecond;
    return out;
}

double end_of_step(const PoolTrace& t, std::size_t i) {
    return i + 1 < t.start.size() ? t.start[i + 1] : t.end.base();
}

struct Levels {
    double node_seconds = 0;
    double gang_seconds = 0;
    double none_seconds = 0;
};

Levels levels(const PoolTrace& t, int gang) {
    Levels out;
    for (std::size_t i = 0; i < t.start.size(); ++i) {
        const double length = end_of_step(t, i) - t.start[i];
        out.node_seconds += t.nodes[i] * length;
        if (t.nodes[i] >= gang) out.gang_seconds += length;
        if (t.nodes[i] == 0) out.none_seconds += length;
    }
    return out;
}

DropStats drops_of(const PoolTrace& t) {
    DropStats out;
    for (std::size_t i = 1; i < t.nodes.size(); ++i) {
        const int lost = t.nodes[i - 1] - t.nodes[i];
        if (lost <= 0) continue;
        ++out.count;
        out.nodes += lost;
        if (t.nodes[i] == 0) ++out.to_zero;
        if (lost > 1) out.nodes_in_bursts += lost;
    }
    return out;
}

}  // namespace

std::vector<AgeBand> survival_by_age(const std::vector<Life>& lives) {
    const KaplanMeier curve = kaplan_meier(lives);
    std::vector<AgeBand> bands;
    for (std::size_t i = 0; i < std::size(kAges); ++i) {
        AgeBand band;
        band.from = kAges[i] * kHour;
        band.to = i + 1 < std::size(kAges)
                      ? kAges[i + 1] * kHour
                      : Seconds::from_base(std::numeric_limits<double>::infinity());
        band.survival = curve.at(band.from);
        double lived = 0;
        for (const Life& life : lives) {
            if (life.time <= band.from) continue;
            ++band.at_risk;
            lived += (std::min(life.time, band.to) - band.from).base();
            if (life.ended && life.time <= band.to) ++band.ended;
        }
        if (lived > 0) band.hazard_per_hour = band.ended / (lived / 3600);
        bands.push_back(band);
    }
    return bands;
}

PriceStats price_stats(const std::vector<double>& start, const std::vector<double>& price,
                       Seconds end) {
    PriceStats out;
    if (price.empty()) return out;
    out.low = *std::min_element(price.begin(), price.end());
    out.high = *std::max_element(price.begin(), price.end());
    double total = 0;
    double squares = 0;
    double weight = 0;
    const bool no_length = end.base() <= start.front();
    for (std::size_t i = 0; i < price.size(); ++i) {
        const double until = i + 1 < start.size() ? start[i + 1] : end.base();
        const double length = no_length ? 1 : std::max(0.0, until - start[i]);
        total += price[i] * length;
        squares += price[i] * price[i] * length;
        weight += length;
    }
    out.mean = total / weight;
    out.deviation = std::sqrt(std::max(0.0, squares / weight - out.mean * out.mean));
    out.changes = static_cast<int>(price.size()) - 1;
    if (out.changes > 0) out.between_changes = end / out.changes;
    return out;
}

PoolStats pool_stats(const PoolTrace& trace, int gang) {
    PoolStats s;
    s.pool = trace.pool;
    s.zone = trace.zone;
    s.file = trace.file;
    s.observation = trace.observation;
    s.capacity = trace.capacity;
    s.gang = gang > 0 ? gang : usual_gang(trace);
    s.length = trace.end;
    s.tick = trace.tick;
    const Levels level = levels(trace, s.gang);
    const double length = trace.end.base();
    if (length > 0) {
        s.availability = level.node_seconds / length / trace.capacity;
        s.gang_share = level.gang_seconds / length;
        s.none_share = level.none_seconds / length;
    }
    const UpDown lives = lives_of(trace, s.gang);
    s.up = lengths(lives.up);
    s.down = lengths(lives.down);
    s.interruptions = static_cast<int>(
        std::count_if(lives.up.begin(), lives.up.end(), [](const Life& l) { return l.ended; }));
    s.drops = drops_of(trace);
    if (level.node_seconds > 0)
        s.lost_per_node_day = s.drops.nodes / (level.node_seconds / kDay.base());
    s.ages = survival_by_age(lives.up);
    s.weibull = fit_weibull(lives.up, trace.tick);
    if (!trace.price.empty()) s.price = price_stats(trace.price_start, trace.price, trace.end);
    return s;
}

}  // namespace trainyard::spot
