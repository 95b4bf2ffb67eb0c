#pragma once
// Small runs for the tests of the engine.

#include "trainyard/spot/run.hpp"
#include "trainyard/spot/simulate.hpp"

namespace trainyard::spot {

inline Pool on_demand_pool(double usd_per_hour) {
    Pool pool;
    pool.name = "od";
    pool.purchase = Purchase::on_demand;
    pool.price = usd_per_hour * kUsdPerHour;
    return pool;
}

inline Pool spot_pool(double usd_per_hour, Weibull up, Weibull down) {
    Pool pool;
    pool.name = "spot";
    pool.price = usd_per_hour * kUsdPerHour;
    PoolProcess process;
    process.up = up;
    process.down = down;
    pool.process = process;
    return pool;
}

inline RunSpec run_of(Seconds work, int nodes) {
    RunSpec spec;
    spec.work = work;
    spec.nodes = spec.min_nodes = nodes;
    spec.checkpoints.cadence = Cadence::fixed;
    spec.checkpoints.interval = 1e9 * kHour;
    return spec;
}

/// Everything at once: elastic, spot and on-demand, failures, notices that may be missing, prices
/// that move, recommendations, refused launches, peers.
inline RunSpec busy_run() {
    RunSpec spec = run_of(60 * kHour, 8);
    spec.min_nodes = 5;
    spec.start = {3 * kMinute, 90 * kSecond, 45 * kSecond};
    spec.reshard = 100 * kSecond;
    spec.checkpoints.cadence = Cadence::daly;
    spec.checkpoints.blocking = 7 * kSecond;
    spec.checkpoints.persist = 70 * kSecond;
    spec.checkpoints.on_notice = 90 * kSecond;
    spec.checkpoints.restore_from = RestoreFrom::peer_memory;
    spec.checkpoints.restore_s3 = 120 * kSecond;
    spec.checkpoints.restore_peer = 15 * kSecond;
    spec.failures_per_node_hour = 2e-3;
    spec.node_replacement = 4 * kMinute;
    spec.rules.notice_missing = 0.3;
    spec.rules.on_demand_refused = 0.2;
    spec.deadline = 120 * kHour;
    spec.pools = {spot_pool(20, {4 * kHour, 0.6}, {1 * kHour, 0.8}), on_demand_pool(60)};
    PoolProcess& process = *spec.pools[0].process;
    process.gang_share = 0.6;
    process.burst = 2.5;
    process.single_per_hour = 0.01;
    process.hour_factor[9] = 3;
    process.price = {20, 2, 6 * kHour};
    return spec;
}

}  // namespace trainyard::spot
