#include "check_run.hpp"

#include <fmt/format.h>

#include <cmath>

namespace trainyard::spot {
namespace {

constexpr int kMostNodes = 1'000'000;

class Mistakes {
  public:
    void add(std::string what, std::string why, std::string fix) {
        Diagnostic d;
        d.what = std::move(what);
        d.why = std::move(why);
        d.fix = std::move(fix);
        all.push_back(std::move(d));
    }
    /// A time that must be finite and not negative.
    void time(Seconds t, const char* name) {
        if (std::isfinite(t.base()) && t >= Seconds{}) return;
        add(fmt::format("{} is no length of time: {} s", name, t.base()),
            "it must be finite and not negative", "correct it");
    }
    void share(double p, const char* name) {
        if (p >= 0 && p <= 1) return;
        add(fmt::format("{} is no probability: {}", name, p), "it must be between 0 and 1",
            "correct it");
    }
    std::vector<Diagnostic> all;
};

void check_job(const RunSpec& spec, Mistakes& m) {
    if (!(spec.work > Seconds{}) || !std::isfinite(spec.work.base()))
        m.add(fmt::format("there is no work to do: {} s", spec.work.base()),
              "the work is the useful run time at full size, above 0", "give the run a length");
    const StepTimeRange& step = spec.step_time;
    if (!(step.low > 0 && step.low <= 1 && step.high >= 1) || !std::isfinite(step.high))
        m.add(fmt::format("the step time is {} to {} times the expected one", step.low, step.high),
              "the range must contain 1 and begin above 0", "correct it");
    if (spec.nodes < 1 || spec.nodes > kMostNodes)
        m.add(fmt::format("a run of {} nodes cannot be played", spec.nodes),
              fmt::format("it needs 1 to {}", kMostNodes), "correct the number of nodes");
    if (spec.min_nodes < 1 || spec.min_nodes > spec.nodes)
        m.add(fmt::format("the smallest size of {} nodes cannot be played", spec.min_nodes),
              fmt::format("it lies between 1 and the full size, {}", spec.nodes),
              "correct the smallest size");
    if (!spec.speed.empty() && spec.speed.size() != static_cast<std::size_t>(spec.nodes))
        m.add(fmt::format("{} speeds for {} nodes", spec.speed.size(), spec.nodes),
              "one speed per size, from 1 node to all", "give all or none");
    for (const double s : spec.speed) {
        if (s > 0 && s <= 1) continue;
        m.add(fmt::format("a relative speed of {}", s), "it must be above 0 and at most 1",
              "divide by the speed at full size");
        break;
    }
    if (!(spec.failures_per_node_hour >= 0) || !std::isfinite(spec.failures_per_node_hour))
        m.add(fmt::format("{} failures per node and hour", spec.failures_per_node_hour),
              "it must be 0 or more", "correct it");
    if (spec.deadline) m.time(*spec.deadline, "the deadline");
    if (spec.budget && !(*spec.budget > Usd{}))
        m.add("the budget is not positive", "nothing can be bought for it", "correct it");
    m.time(spec.reshard, "the reshard");
    m.time(spec.start.boot, "the boot");
    m.time(spec.start.image, "the image pull");
    m.time(spec.start.framework, "the start of the framework");
    m.time(spec.node_replacement, "the replacement of a node");
    m.time(spec.give_up, "the time to give up");
}

void check_checkpoints(const Checkpoints& c, Mistakes& m) {
    m.time(c.blocking, "the blocking part of a save");
    m.time(c.persist, "the time until a save is safe");
    m.time(c.on_notice, "the save on notice");
    m.time(c.restore_s3, "the restore");
    m.time(c.restore_peer, "the restore from peers");
    if (c.cadence != Cadence::fixed) return;
    const Seconds save = std::max(c.blocking, c.persist);
    if (!(c.interval > Seconds{})) {
        m.add("the fixed cadence has no interval", "it must be above 0",
              "give an interval or choose another cadence");
    } else if (c.interval < save) {
        m.add(fmt::format("a save every {:g} s cannot be kept up", c.interval.base()),
              fmt::format("one save takes {:.0f} s until it is safe, and the next must not start "
                          "before",
                          save.base()),
              fmt::format("save every {:.0f} s or less often, or make the save faster",
                          std::ceil(save.base())));
    }
}

void check_pool(const Pool& pool, Mistakes& m) {
    const std::string name = pool.name.empty() ? "a pool" : "pool " + pool.name;
    if (pool.limit < 1)
        m.add(name + " has no nodes", "its limit must be 1 or more", "remove it or raise it");
    if (!(pool.price >= UsdPerSecond{}) || !std::isfinite(pool.price.base()))
        m.add(name + " has no price", "a price is 0 or more", "correct it");
    if (pool.purchase == Purchase::capacity_block && !(pool.window > Seconds{}))
        m.add(name + " has no window", "a Capacity Block is booked for a length of time",
              "give its window");
    if (pool.trace != nullptr) {
        const PoolTrace& t = *pool.trace;
        if (t.start.empty() || t.start.size() != t.nodes.size() || t.capacity < 1 ||
            !(t.end.base() > t.start.back()))
            m.add(name + " has a trace without samples", "there is nothing to replay",
                  "give another trace");
    } else if (pool.process) {
        const PoolProcess& p = *pool.process;
        for (const Weibull& life : {p.up, p.down}) {
            if (life.scale > Seconds{} && std::isfinite(life.scale.base()) && life.shape >= 0.05)
                continue;
            m.add(name + " has a process without lengths",
                  "scale above 0 and shape from 0.05 for up and down times", "fit it again");
            break;
        }
        m.share(p.start_up, "the probability of capacity at the start");
        m.share(p.gang_share, "the share of drops that take all nodes");
        bool some = false;
        for (const double f : p.hour_factor) some = some || f > 0;
        if (!some)
            m.add(name + " has no hour with a hazard", "one factor must be above 0", "correct it");
    }
}

void check_rules(const AwsRules& rules, Mistakes& m) {
    m.time(rules.notice, "the notice");
    m.share(rules.notice_missing, "the share of notices that are missing");
    m.share(rules.rebalance_precision, "the precision of recommendations");
    m.share(rules.rebalance_recall, "the recall of recommendations");
    m.time(rules.block_ends_early, "the early end of a Capacity Block");
    m.share(rules.on_demand_refused, "the probability of refusal");
    if (rules.on_demand_refused > 0 && !(rules.refused_retry > Seconds{}))
        m.add("a refused launch is retried without pause", "the retry needs a time above 0",
              "give the time between tries");
}

}  // namespace

std::vector<Diagnostic> check_run(const RunSpec& spec, std::string_view policy,
                                  const SimulateOptions& options) {
    Mistakes m;
    check_job(spec, m);
    check_checkpoints(spec.checkpoints, m);
    if (spec.pools.empty())
        m.add("there is no pool to take nodes from", "a run needs at least one", "name a pool");
    if (spec.pools.size() > kMostPools)
        m.add(fmt::format("{} pools are too many", spec.pools.size()),
              fmt::format("{} can be played", kMostPools), "give fewer pools or traces");
    for (const Pool& pool : spec.pools) check_pool(pool, m);
    check_rules(spec.rules, m);
    if (options.runs < 1)
        m.add("no run is to be played", "the number of runs is 1 or more", "play some");
    if (make_policy(policy) == nullptr) {
        std::string names;
        for (const PolicyInfo& info : policies()) names += (names.empty() ? "" : ", ") + info.name;
        m.add(fmt::format("there is no policy \"{}\"", policy),
              "a policy is a name, some with a number after a colon", "one of: " + names);
    }
    return std::move(m.all);
}

}  // namespace trainyard::spot
