#pragma once
// One training run to be played: its work, its fleet, its checkpoints, the rules of the provider.
// Step times come in as numbers: this module knows nothing of models or accelerators.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "trainyard/base/units.hpp"
#include "trainyard/spot/policy.hpp"
#include "trainyard/spot/process.hpp"
#include "trainyard/spot/trace.hpp"

namespace trainyard::spot {

/// AWS's own rules; each can be switched off so that its effect shows in dollars.
struct AwsRules {
    bool per_second = true;             ///< else whole hours are billed
    bool first_hour_free = true;        ///< no charge when EC2 interrupts a node in its first hour
    Seconds notice = 120 * kSecond;     ///< 0: none
    double notice_missing = 0;          ///< share of interruptions that come without one
    bool rebalance = true;              ///< recommendations are sent
    double rebalance_precision = 0.30;  ///< 9 of 30 (aws-node-termination-handler issue 141)
    double rebalance_recall = 0.60;     ///< 9 of 15 (same)
    Seconds block_ends_early = 1800 * kSecond;
    double on_demand_refused = 0;  ///< probability that an on-demand launch finds no capacity
    Seconds refused_retry = 600 * kSecond;
};

struct Pool {
    std::string name;
    std::string zone;
    Purchase purchase = Purchase::spot;
    UsdPerSecond price;   ///< per node; used where neither trace nor process has one
    int limit = 1 << 20;  ///< nodes at most
    int region = 0;
    Usd move_cost;                       ///< data transfer to bring the checkpoint to this region
    std::optional<PoolProcess> process;  ///< spot only
    const PoolTrace* trace = nullptr;    ///< spot only: replayed, from a random or a given place
    Seconds window;                      ///< Capacity Block: booked length
};

enum class Cadence { fixed, young, daly, best, age_aware };
enum class RestoreFrom { s3, fsx, peer_memory };

struct Checkpoints {
    Cadence cadence = Cadence::daly;
    Seconds interval;   ///< fixed only
    Seconds blocking;   ///< the run stands still for this long at each save
    Seconds persist;    ///< from the start of a save until it would survive the loss of all nodes
    Seconds on_notice;  ///< time a save on notice needs, until it is safe; 0: never tried
    RestoreFrom restore_from = RestoreFrom::s3;
    Seconds restore_s3;    ///< read back from S3 or FSx
    Seconds restore_peer;  ///< from the memory of nodes that survived
};

struct StartUp {
    Seconds boot;
    Seconds image;
    Seconds framework;  ///< process groups, compile, first batch
};

/// How far the step time may be off, as factors: one run in ten has more than `high` times the
/// expected step time, one in ten less than `low` times. 1 and 1: exact.
struct StepTimeRange {
    double low = 1;   ///< above 0, at most 1
    double high = 1;  ///< at least 1
    bool is_exact() const { return low >= 1 && high <= 1; }
};

struct RunSpec {
    std::string name;
    Seconds work;  ///< at full size with the expected step time, saves and interruptions excluded
    StepTimeRange step_time;
    int nodes = 1;
    int min_nodes = 1;          ///< smaller than nodes: elastic
    std::vector<double> speed;  ///< speed[n-1] with n nodes, relative to full size; empty: linear
    Seconds reshard;            ///< added to a restart when the size changes
    StartUp start;
    Checkpoints checkpoints;
    double failures_per_node_hour = 0;  ///< hardware and software, without notice
    Seconds node_replacement;           ///< until a failed node is replaced, where capacity exists
    std::optional<Seconds> deadline;
    std::optional<Usd> budget;  ///< the run stops, saved, before it
    Usd other;        ///< storage, data, head node: not simulated, added to the money of every run
    Seconds give_up;  ///< wall time after which a run ends unfinished; 0: ten times the work or the
                      ///< deadline, whichever is longer
    AwsRules rules;
    std::vector<Pool> pools;
    bool trace_from_start = false;  ///< replay begins at 0, not at a random place
};

/// The work of one run: log-normal on each side of the expected step time, which is the median. The
/// first steps of a run show it, so policies know it; who plans before (the size of the fleet, the
/// tables of the default policy) has the expected one.
Seconds work_of(const RunSpec& spec, std::uint64_t seed, std::uint64_t run);

}  // namespace trainyard::spot
