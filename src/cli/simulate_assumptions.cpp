// What the numbers of `trainyard simulate` rest on.

#include <fmt/format.h>

#include <algorithm>

#include "simulate_files.hpp"
#include "simulate_words.hpp"
#include "trainyard/base/contract.hpp"
#include "trainyard/base/text.hpp"
#include "trainyard/doc/csv.hpp"
#include "trainyard/plan/assumptions.hpp"

namespace trainyard::cli {

namespace {

std::string hourly(UsdPerSecond price) {
    return fmt::format("{} per node and hour", format_usd_cents(price * kHour));
}

Assumption from_plan(std::string text, std::string_view key) {
    const catalog::Provenance& p = plan::Assumptions::embedded().row(key).provenance;
    return {std::move(text), p.source, p.as_of, std::string(catalog::to_string(p.status))};
}

Assumption of_trace(const spot::Pool& pool, const spot::RunSpec& spec) {
    const spot::PoolTrace& t = *pool.trace;
    std::string text =
        fmt::format("{}: capacity replayed from {} ({} long), from {}", pool.name, t.file,
                    format_duration(t.end), spec.trace_from_start ? "its start" : "a random place");
    if (t.observation == spot::Observation::probe)
        text += "; launch probes: that a running node would have survived is assumed";
    std::string price = t.price.empty() ? hourly(pool.price) : std::string("the trace's prices");
    return {text + "; " + price, t.file, "", "replayed"};
}

Assumption of_pool(const spot::Pool& pool, const spot::RunSpec& spec) {
    if (pool.trace != nullptr) return of_trace(pool, spec);
    std::string text = fmt::format("{}: {}", pool.name, hourly(pool.price));
    if (!pool.process) {
        if (pool.window > Seconds{})
            text += fmt::format(", booked for {} and paid whole", format_duration(pool.window));
        else
            text += ", always there when asked for";
        return {std::move(text), "the plan's bill", "", "from the plan"};
    }
    const spot::PoolProcess& p = *pool.process;
    text += fmt::format(
        "; up {} and down {} on average (Weibull shapes {:.2f} and {:.2f}); {} of the drops take "
        "every node",
        format_duration(p.up.mean()), format_duration(p.down.mean()), p.up.shape, p.down.shape,
        share_words(p.gang_share));
    return {std::move(text), p.source.text, p.source.as_of, p.source.status};
}

Assumption of_checkpoints(const spot::RunSpec& spec) {
    const spot::Checkpoints& c = spec.checkpoints;
    std::string text = fmt::format("a save stops the run for {} and is safe after {}",
                                   format_duration(c.blocking), format_duration(c.persist));
    text += c.on_notice > Seconds{}
                ? fmt::format("; a save on notice needs {}", format_duration(c.on_notice))
                : std::string("; no save on notice");
    const bool peer = c.restore_from == spot::RestoreFrom::peer_memory;
    text += fmt::format("; reading back from {} takes {}", to_string(c.restore_from),
                        format_duration(peer ? c.restore_peer : c.restore_s3));
    return from_plan(std::move(text), "checkpoint.s3_gb_per_s_node");
}

Assumption of_size(const spot::RunSpec& spec) {
    std::string text =
        spec.min_nodes < spec.nodes
            ? fmt::format("runs on {} to {} nodes, at {} with fewer than all", spec.min_nodes,
                          spec.nodes,
                          spec.speed.empty() ? "a speed in proportion"
                                             : "the speed of the plan's scaling curve")
            : fmt::format("runs on {} node{} or not at all", spec.nodes,
                          spec.nodes == 1 ? "" : "s");
    return {std::move(text), "the plan", "", "from the plan"};
}

bool moves_for_free(const spot::RunSpec& spec) {
    return std::any_of(spec.pools.begin(), spec.pools.end(), [&](const spot::Pool& p) {
        return p.region != spec.pools.front().region && p.trace != nullptr && p.move_cost <= Usd{};
    });
}

bool is_on(const spot::AwsRules& rules, std::string_view rule) {
    if (rule == "per_second") return rules.per_second;
    if (rule == "first_hour_free") return rules.first_hour_free;
    if (rule == "notice") return rules.notice > Seconds{};
    if (rule == "rebalance") return rules.rebalance;
    if (rule == "block_ends_early") return rules.block_ends_early > Seconds{};
    return rules.on_demand_refused > 0;
}

std::string of_steps(const spot::RunSpec& spec) {
    const std::string work = format_duration(spec.work) + " of steps at full size";
    if (spec.step_time.is_exact()) return work + ", taken as exact";
    return work +
           fmt::format(
               "; each run draws its step time: one in ten is over {:+.1f} % off, one in ten "
               "under {:+.1f} % (the plan's range)",
               100 * (spec.step_time.high - 1), 100 * (spec.step_time.low - 1));
}

/// Whether the run has a pool that the rule speaks of.
bool matters(const spot::RunSpec& spec, std::string_view rule) {
    const bool block = rule == "block_ends_early";
    const bool firm = rule == "on_demand_refused";
    return rule == "per_second" ||
           std::any_of(spec.pools.begin(), spec.pools.end(), [&](const spot::Pool& p) {
               return p.purchase == (block  ? spot::Purchase::capacity_block
                                     : firm ? spot::Purchase::on_demand
                                            : spot::Purchase::spot);
           });
}

void add_rules(const spot::RunSpec& spec, std::vector<Assumption>& out) {
    const auto table = doc::parse_csv(simulate_files().at("rules.csv"), "rules.csv");
    TRAINYARD_ASSERT(table.has_value(), "the embedded table is well formed");
    for (std::size_t row = 0; row < table->size(); ++row) {
        const auto cell = [&](std::string_view column) {
            return std::string(table->cell(row, column));
        };
        const std::string rule = cell("rule");
        if (!matters(spec, rule)) continue;
        const bool on = is_on(spec.rules, rule);
        if (rule == "on_demand_refused") {
            const double share = spec.rules.on_demand_refused;
            out.push_back(
                {on ? fmt::format("{} of on-demand launches find no capacity", share_words(share))
                    : "on-demand capacity is always there; AWS publishes no rate",
                 cell("source"), cell("as_of"), cell("status")});
            continue;
        }
        out.push_back({(on ? "" : "switched off: ") + cell("text"), cell("source"), cell("as_of"),
                       cell("status")});
    }
}

}  // namespace

std::vector<Assumption> assumptions_of(const SimulateRequest& request) {
    const spot::RunSpec& spec = request.input.run.spec;
    std::vector<Assumption> out;
    out.push_back({of_steps(spec), "trainyard plan", "", "modelled"});
    out.push_back(of_size(spec));
    for (const spot::Pool& pool : spec.pools) out.push_back(of_pool(pool, spec));
    if (moves_for_free(spec)) {
        out.push_back(
            {"moving a checkpoint to another region costs nothing: its price is not in "
             "the plan",
             "", "", "assumed"});
    }
    out.push_back(of_checkpoints(spec));
    out.push_back(
        from_plan(fmt::format("a start: boot {}, image {}, framework {}, then the checkpoint",
                              format_duration(spec.start.boot), format_duration(spec.start.image),
                              format_duration(spec.start.framework)),
                  "startup.boot"));
    if (spec.failures_per_node_hour > 0) {
        out.push_back(
            from_plan(fmt::format("hardware or software fails without notice every {:.0f} "
                                  "node-hours",
                                  1 / spec.failures_per_node_hour),
                      "failure.mtbf_accelerator_hours"));
    }
    add_rules(spec, out);
    return out;
}

}  // namespace trainyard::cli
