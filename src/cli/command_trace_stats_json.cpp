// JSON and CSV of `trainyard trace stats`. Keys end in their unit.

#include <fmt/format.h>

#include <cmath>

#include "command_trace_parts.hpp"

namespace trainyard::cli {

namespace {

using doc::Node;

std::string_view name_of(spot::Observation o) {
    switch (o) {
        case spot::Observation::probe:
            return "probe";
        case spot::Observation::kept_alive:
            return "kept_alive";
        case spot::Observation::events:
            return "events";
    }
    return "";
}

Node runs_node(const spot::RunLengths& r) {
    Node n = Node::map();
    n.set("count", r.count);
    if (r.count == 0) return n;
    return n.set("mean_s", r.mean.base())
        .set("median_s", r.median.base())
        .set("p90_s", r.p90.base())
        .set("longest_s", r.longest.base());
}

Node ages_node(const std::vector<spot::AgeBand>& ages) {
    Node list = Node::list();
    for (const spot::AgeBand& band : ages) {
        Node n = Node::map();
        n.set("from_s", band.from.base())
            .set("to_s", band.to.base())
            .set("reached", band.at_risk)
            .set("survival", band.survival)
            .set("ended", band.ended);
        n.set("hazard_per_hour",
              band.hazard_per_hour ? Node::number(*band.hazard_per_hour) : Node());
        list.append(std::move(n));
    }
    return list;
}

Node price_node(const spot::PriceStats& p) {
    Node n = Node::map();
    n.set("low_usd_per_hour", p.low)
        .set("mean_usd_per_hour", p.mean)
        .set("high_usd_per_hour", p.high)
        .set("deviation_usd_per_hour", p.deviation)
        .set("changes", p.changes);
    return n.set("between_changes_s",
                 p.changes > 0 ? Node::number(p.between_changes.base()) : Node());
}

Node weibull_node(const spot::WeibullFit& fit) {
    Node n = Node::map();
    return n.set("shape", fit.life.shape)
        .set("scale_s", fit.life.scale.base())
        .set("ended", fit.ended)
        .set("censored", fit.censored)
        .set("ks_distance", fit.ks)
        .set("log_likelihood", fit.log_likelihood)
        .set("log_likelihood_exponential", fit.exponential_log_likelihood);
}

Node pool_node(const spot::PoolStats& s) {
    Node drops = Node::map();
    drops.set("count", s.drops.count)
        .set("nodes", s.drops.nodes)
        .set("to_zero", s.drops.to_zero)
        .set("nodes_in_bursts", s.drops.nodes_in_bursts);
    Node n = Node::map();
    n.set("pool", s.pool)
        .set("zone", s.zone.empty() ? Node() : Node::string(s.zone))
        .set("file", s.file)
        .set("observation", name_of(s.observation))
        .set("capacity", s.capacity)
        .set("gang", s.gang)
        .set("length_s", s.length.base())
        .set("tick_s", s.tick > Seconds{} ? Node::number(s.tick.base()) : Node())
        .set("availability", s.availability)
        .set("gang_up_share", s.gang_share)
        .set("none_share", s.none_share)
        .set("interruptions", s.interruptions)
        .set("up", runs_node(s.up))
        .set("down", runs_node(s.down));
    n.set("lost_per_node_day", s.lost_per_node_day ? Node::number(*s.lost_per_node_day) : Node());
    n.set("drops", std::move(drops)).set("ages", ages_node(s.ages));
    n.set("weibull", s.weibull ? weibull_node(*s.weibull) : Node());
    return n.set("price", s.price ? price_node(*s.price) : Node());
}

Node group_node(const spot::ZoneGroup& group, const TraceStats& stats) {
    Node pools = Node::list();
    for (std::size_t i : group.pools) pools.append(Node::string(stats.pools[i].pool));
    Node matrix = Node::list();
    for (const auto& row : group.correlation) {
        Node cells = Node::list();
        for (double c : row) cells.append(std::isnan(c) ? Node() : Node::number(c));
        matrix.append(std::move(cells));
    }
    Node n = Node::map();
    return n.set("pools", std::move(pools))
        .set("length_s", group.length.base())
        .set("any_up", group.any_up)
        .set("any_up_if_independent", group.any_up_if_independent)
        .set("all_up", group.all_up)
        .set("correlation", std::move(matrix));
}

}  // namespace

doc::Node trace_stats_json(const TraceStats& stats, const TraceInput& input) {
    Node root = Node::map();
    root.set("schema", "trainyard.trace-stats").set("schema_version", 1);
    Node formats = Node::list();
    for (const std::string& format : input.formats) formats.append(Node::string(format));
    Node notes = Node::list();
    for (const Diagnostic& note : input.traces.notes) {
        Node n = Node::map();
        n.set("file", note.where.file).set("what", note.what).set("why", note.why);
        notes.append(std::move(n));
    }
    Node pools = Node::list();
    for (const spot::PoolStats& s : stats.pools) pools.append(pool_node(s));
    Node groups = Node::list();
    for (const spot::ZoneGroup& group : stats.groups) groups.append(group_node(group, stats));
    Node prices = Node::list();
    for (const TraceStats::Price& p : stats.prices) {
        Node n = price_node(p.stats);
        prices.append(n.set("name", p.name).set("file", p.file));
    }
    return root.set("formats", std::move(formats))
        .set("notes", std::move(notes))
        .set("pools", std::move(pools))
        .set("ages", ages_node(stats.ages))
        .set("groups", std::move(groups))
        .set("prices", std::move(prices));
}

std::string trace_stats_csv(const TraceStats& stats) {
    std::string out =
        "pool,zone,observation,capacity,gang,length_s,availability,gang_up_share,none_share,"
        "interruptions,up_mean_s,up_median_s,up_p90_s,down_mean_s,lost_per_node_day,weibull_shape,"
        "weibull_scale_s,price_mean_usd_per_hour\n";
    for (const spot::PoolStats& s : stats.pools) {
        const auto maybe = [](bool is, double value) {
            return is ? fmt::format("{}", value) : std::string();
        };
        out += fmt::format(
            "{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}\n", s.pool, s.zone,
            name_of(s.observation), s.capacity, s.gang, s.length.base(), s.availability,
            s.gang_share, s.none_share, s.interruptions, maybe(s.up.count > 0, s.up.mean.base()),
            maybe(s.up.count > 0, s.up.median.base()), maybe(s.up.count > 0, s.up.p90.base()),
            maybe(s.down.count > 0, s.down.mean.base()),
            maybe(s.lost_per_node_day.has_value(), s.lost_per_node_day.value_or(0)),
            maybe(s.weibull.has_value(), s.weibull ? s.weibull->life.shape : 0),
            maybe(s.weibull.has_value(), s.weibull ? s.weibull->life.scale.base() : 0),
            maybe(s.price.has_value(), s.price ? s.price->mean : 0));
    }
    return out;
}

}  // namespace trainyard::cli
