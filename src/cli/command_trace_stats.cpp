// The text of `trainyard trace stats`.

#include <fmt/format.h>

#include <cmath>

#include "command_trace_parts.hpp"
#include "table.hpp"
#include "trainyard/base/text.hpp"

namespace trainyard::cli {

namespace {

constexpr std::size_t kMaxMatrix = 10;

std::string hours(Seconds t) { return three_digits(t / kHour); }
std::string percent(double share) { return format_fixed(share * 100, 1); }

std::string pools_table(const TraceStats& stats) {
    Table table({{"POOL", Align::left},
                 {"GANG", Align::right},
                 {"DAYS", Align::right},
                 {"UP %", Align::right},
                 {"CUTS", Align::right},
                 {"UP h", Align::right},
                 {"median", Align::right},
                 {"p90", Align::right},
                 {"DOWN h", Align::right},
                 {"LOST/NODE-DAY", Align::right},
                 {"SHAPE", Align::right},
                 {"SCALE h", Align::right}});
    for (const spot::PoolStats& s : stats.pools) {
        table.add(
            {s.pool, std::to_string(s.gang), format_fixed(s.length / kDay, 1),
             percent(s.gang_share), std::to_string(s.interruptions),
             s.up.count > 0 ? hours(s.up.mean) : "-", s.up.count > 0 ? hours(s.up.median) : "-",
             s.up.count > 0 ? hours(s.up.p90) : "-", s.down.count > 0 ? hours(s.down.mean) : "-",
             s.lost_per_node_day ? three_digits(*s.lost_per_node_day) : "-",
             s.weibull ? format_fixed(s.weibull->life.shape, 2) : "-",
             s.weibull ? hours(s.weibull->life.scale) : "-"});
    }
    return table.text() +
           "\nUP %: time with the whole gang. CUTS: ends of up times. LOST/NODE-DAY: nodes lost "
           "per "
           "day\nof one node. SHAPE below 1: the longer it has run, the safer it is.\n";
}

std::string ages_table(const TraceStats& stats) {
    Table table({{"AGE h", Align::right},
                 {"REACHED", Align::right},
                 {"SURVIVAL %", Align::right},
                 {"ENDED", Align::right},
                 {"HAZARD/h", Align::right}});
    for (const spot::AgeBand& band : stats.ages) {
        if (band.at_risk == 0) break;
        const std::string to =
            std::isinf(band.to.base()) ? "up" : fmt::format("{}", band.to / kHour);
        table.add({fmt::format("{} to {}", band.from / kHour, to), std::to_string(band.at_risk),
                   percent(band.survival), std::to_string(band.ended),
                   band.hazard_per_hour ? three_digits(*band.hazard_per_hour) : "-"});
    }
    return "\nUp times by age, all pools\n" + table.text();
}

std::string group_text(const spot::ZoneGroup& group, const TraceStats& stats) {
    std::string out = fmt::format(
        "\n{} pools watched together for {}\n"
        "  some pool up {} % of the time; if they were independent it would be {} %; all up {} %\n",
        group.pools.size(), format_duration(group.length), format_fixed(group.any_up * 100, 2),
        format_fixed(group.any_up_if_independent * 100, 2), format_fixed(group.all_up * 100, 2));
    if (group.pools.size() > kMaxMatrix) return out + "  correlations: --json\n";
    std::vector<Column> columns = {{"CORRELATION", Align::left}};
    for (std::size_t i : group.pools) columns.push_back({stats.pools[i].pool, Align::right});
    if (group.pools.size() > 5) {
        for (std::size_t i = 0; i < group.pools.size(); ++i)
            columns[i + 1].title = std::to_string(i + 1);
    }
    Table table(std::move(columns));
    for (std::size_t r = 0; r < group.pools.size(); ++r) {
        const std::string& name = stats.pools[group.pools[r]].pool;
        std::vector<std::string> cells = {group.pools.size() > 5 ? fmt::format("{} {}", r + 1, name)
                                                                 : name};
        for (double c : group.correlation[r])
            cells.push_back(std::isnan(c) ? "-" : format_fixed(c, 2));
        table.add(std::move(cells));
    }
    return out + table.text();
}

std::string drops_table(const TraceStats& stats) {
    Table table({{"POOL", Align::left},
                 {"ASKED", Align::right},
                 {"MEAN NODES", Align::right},
                 {"NONE %", Align::right},
                 {"DROPS", Align::right},
                 {"DROPS/h", Align::right},
                 {"MEAN DROP", Align::right},
                 {"TO ZERO %", Align::right},
                 {"IN BURSTS %", Align::right}});
    for (const spot::PoolStats& s : stats.pools) {
        if (s.capacity < 2) continue;
        const double drops = s.drops.count;
        table.add({s.pool, std::to_string(s.capacity), format_fixed(s.availability * s.capacity, 2),
                   percent(s.none_share), std::to_string(s.drops.count),
                   three_digits(drops / (s.length / kHour)),
                   drops > 0 ? format_fixed(s.drops.nodes / drops, 2) : "-",
                   drops > 0 ? percent(s.drops.to_zero / drops) : "-",
                   s.drops.nodes > 0
                       ? percent(static_cast<double>(s.drops.nodes_in_bursts) / s.drops.nodes)
                       : "-"});
    }
    if (table.empty()) return "";
    return "\nDrops: moments at which nodes were lost; to zero: the whole gang at once; in bursts: "
           "nodes\nlost together with another one\n" +
           table.text();
}

std::string prices_table(const TraceStats& stats) {
    Table table({{"PRICE", Align::left},
                 {"LOW $/h", Align::right},
                 {"MEAN $/h", Align::right},
                 {"HIGH $/h", Align::right},
                 {"CHANGES", Align::right},
                 {"HOURS BETWEEN", Align::right}});
    const auto add = [&](const std::string& name, const spot::PriceStats& p) {
        table.add({name, format_fixed(p.low, 4), format_fixed(p.mean, 4), format_fixed(p.high, 4),
                   std::to_string(p.changes),
                   p.changes > 0 ? format_fixed(p.between_changes / kHour, 2) : "-"});
    };
    for (const spot::PoolStats& s : stats.pools) {
        if (s.price) add(s.pool, *s.price);
    }
    for (const TraceStats::Price& p : stats.prices) add(p.name, p.stats);
    return table.empty() ? "" : "\n" + table.text();
}

}  // namespace

std::string three_digits(double value) {
    if (!std::isfinite(value)) return "-";
    const double size = std::abs(value);
    return format_fixed(value, size >= 100 ? 0 : size >= 10 ? 1 : size >= 1 ? 2 : 3);
}

TraceStats trace_stats(const spot::TraceSet& traces, int gang) {
    TraceStats stats;
    std::vector<spot::Life> all;
    for (const spot::PoolTrace& pool : traces.pools) {
        stats.pools.push_back(spot::pool_stats(pool, gang));
        const auto lives = spot::lives_of(pool, stats.pools.back().gang);
        all.insert(all.end(), lives.up.begin(), lives.up.end());
    }
    stats.ages = spot::survival_by_age(all);
    stats.groups = spot::zone_groups(traces.pools, gang);
    for (const spot::PriceSeries& p : traces.prices) {
        const bool shown = std::any_of(
            stats.pools.begin(), stats.pools.end(),
            [&](const spot::PoolStats& s) { return s.pool == p.name && s.price.has_value(); });
        if (!shown)
            stats.prices.push_back({p.name, p.file, spot::price_stats(p.start, p.price, p.end)});
    }
    return stats;
}

std::string trace_stats_text(const TraceStats& stats, const TraceInput& input, Io& io) {
    std::string out;
    const std::string head = fmt::format("{} {} in {} {}", stats.pools.size(),
                                         stats.pools.size() == 1 ? "pool" : "pools", input.files,
                                         input.files == 1 ? "file" : "files");
    out += io.paint(Tone::bold, head) + fmt::format(": {}\n", fmt::join(input.formats, ", "));
    if (!stats.pools.empty()) out += "\n" + pools_table(stats) + ages_table(stats);
    for (const spot::ZoneGroup& group : stats.groups) out += group_text(group, stats);
    return out + drops_table(stats) + prices_table(stats);
}

}  // namespace trainyard::cli
