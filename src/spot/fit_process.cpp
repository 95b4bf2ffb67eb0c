// A process of one pool, term by term (docs/model/spot-processes.md).

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "trainyard/spot/fit.hpp"
#include "trainyard/spot/stats.hpp"

namespace trainyard::spot {

namespace {

/// 99 % quantile of chi-square with 23 degrees of freedom (24 hours, one sum fixed).
constexpr double kHourSignificant = 41.638;
/// Five expected ends per hour of the day, below which chi-square is no guide (Cochran 1954).
constexpr int kMinEndsForHours = 120;
/// Ends added to both sides of an hour's ratio, so that an hour with few is not believed in full.
constexpr double kHourShrink = 5;

/// As fit_weibull asks for.
constexpr int kFewestEnds = 5;

/// What ended the up times of a gang. A node lost alone competes with the drops: its end says
/// nothing about theirs, so that up time counts as cut short.
struct Ends {
    std::vector<Life> up;    ///< ended: by a drop
    std::vector<Life> down;  ///< after a drop
    int drops = 0;
    int to_zero = 0;
    int lost = 0;  ///< nodes, in drops that left some
    int singles = 0;
};

int nodes_at(const PoolTrace& trace, double time) {
    const auto after = std::upper_bound(trace.start.begin(), trace.start.end(), time);
    return trace.nodes[static_cast<std::size_t>(after - trace.start.begin()) - 1];
}

Ends ends_of(const PoolTrace& trace, int gang) {
    const UpDown lives = lives_of(trace, gang);
    Ends out;
    std::vector<double> singles_at;
    for (Life life : lives.up) {
        const double end = (life.from + life.time).base();
        if (life.ended) {
            const int left = nodes_at(trace, end);
            if (gang > 1 && left == gang - 1) {
                ++out.singles;
                singles_at.push_back(end);
                life.ended = false;
            } else {
                ++out.drops;
                if (left == 0) ++out.to_zero;
                if (left > 0) out.lost += gang - left;
            }
        }
        out.up.push_back(life);
    }
    for (const Life& life : lives.down) {
        if (!std::binary_search(singles_at.begin(), singles_at.end(), life.from.base()))
            out.down.push_back(life);
    }
    return out;
}

double total_hours(const std::vector<Life>& lives) {
    double seconds = 0;
    for (const Life& life : lives) seconds += life.time.base();
    return seconds / 3600;
}

/// Ends seen and expected in each hour of the day, UTC.
struct Hours {
    std::array<double, 24> seen{};
    std::array<double, 24> expected{};
};

Hours hours_of(const std::vector<Life>& lives, const Weibull& fitted, std::int64_t first_utc) {
    Hours hours;
    const auto offset = static_cast<double>(first_utc % 86400);
    for (const Life& life : lives) {
        if (life.first) continue;
        const double begin = offset + life.from.base();
        const double end = begin + life.time.base();
        const auto cumulative = [&](double at) {
            return std::pow((at - begin) / fitted.scale.base(), fitted.shape);
        };
        for (double at = begin; at < end;) {
            const double hour = std::floor(at / 3600);
            const double next = std::min(end, (hour + 1) * 3600);
            hours.expected[static_cast<std::size_t>(std::fmod(hour, 24))] +=
                cumulative(next) - cumulative(at);
            at = next;
        }
        if (life.ended)
            hours.seen[static_cast<std::size_t>(std::fmod(std::floor(end / 3600), 24))] += 1;
    }
    return hours;
}

void fit_hours(const Ends& ends, std::int64_t first_utc, ProcessFit& fit) {
    if (first_utc <= 0 || fit.up->ended < kMinEndsForHours) return;
    const Hours hours = hours_of(ends.up, fit.up->life, first_utc);
    for (std::size_t h = 0; h < 24; ++h) {
        const double difference = hours.seen[h] - hours.expected[h];
        fit.hour_chi_square += difference * difference / std::max(hours.expected[h], 1e-9);
    }
    if (fit.hour_chi_square < kHourSignificant) return;
    double seen = 0;
    double explained = 0;
    auto& factor = fit.process.hour_factor;
    for (std::size_t h = 0; h < 24; ++h) {
        factor[h] = (hours.seen[h] + kHourShrink) / (hours.expected[h] + kHourShrink);
        seen += hours.seen[h];
        explained += factor[h] * hours.expected[h];
    }
    for (double& f : factor) f *= seen / explained;
}

/// A pool that was hardly ever down says only how long on the average.
std::optional<Weibull> down_life(const std::vector<Life>& lives,
                                 const std::optional<WeibullFit>& fit) {
    if (fit) return fit->life;
    const auto ended =
        std::count_if(lives.begin(), lives.end(), [](const Life& life) { return life.ended; });
    if (ended == 0) return std::nullopt;
    return Weibull{total_hours(lives) / static_cast<double>(ended) * kHour, 1};
}

/// Why an up or a down life could not be fitted.
std::string why_no_process(const Ends& ends, bool has_up) {
    if (ends.up.empty()) return "the gang was never up";
    if (ends.drops < 1)
        return ends.singles > 0 ? "only single nodes were lost" : "no up time ended";
    if (has_up) return "no down time ended";
    const auto whole = std::count_if(ends.up.begin(), ends.up.end(),
                                     [](const Life& life) { return life.ended && !life.first; });
    if (whole >= kFewestEnds) {
        return fmt::format("the {} up times that began in the trace and ended are equally long",
                           whole);
    }
    std::string why = fmt::format("{} of {} up {} began in the trace and ended", whole,
                                  ends.up.size(), ends.up.size() == 1 ? "time" : "times");
    if (ends.singles > 0) why += fmt::format(" ({} lost a single node)", ends.singles);
    return why + fmt::format("; a fit needs {}", kFewestEnds);
}

}  // namespace

ProcessFit fit_process(const PoolTrace& trace, int gang) {
    ProcessFit fit;
    PoolProcess& process = fit.process;
    process.gang = gang > 0 ? gang : usual_gang(trace);
    process.name = trace.pool;
    process.source = {trace.file, "", "fitted"};
    fit.days = trace.end / kDay;
    const Ends ends = ends_of(trace, process.gang);
    fit.drops = ends.drops;
    fit.singles = ends.singles;
    fit.up = fit_weibull(ends.up, trace.tick);
    fit.down = fit_weibull(ends.down, trace.tick);
    const auto down = down_life(ends.down, fit.down);
    if (!fit.up || !down) {
        fit.missing = why_no_process(ends, fit.up.has_value());
        return fit;
    }
    process.up = fit.up->life;
    process.down = *down;
    const double up_hours = total_hours(lives_of(trace, process.gang).up);
    process.start_up = up_hours * 3600 / trace.end.base();
    process.gang_share = static_cast<double>(ends.to_zero) / ends.drops;
    const int partial = ends.drops - ends.to_zero;
    process.burst = partial > 0 ? static_cast<double>(ends.lost) / partial : 1;
    process.single_per_hour = ends.singles / (up_hours * process.gang);
    fit_hours(ends, trace.first_utc, fit);
    if (!trace.price.empty()) {
        const PriceStats price = price_stats(trace.price_start, trace.price, trace.end);
        process.price = {price.mean, price.deviation, price.between_changes};
    }
    return fit;
}

}  // namespace trainyard::spot
