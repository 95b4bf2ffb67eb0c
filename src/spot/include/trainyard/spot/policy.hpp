#pragma once
// Which nodes to hold: one file per policy (policy_<name>.cpp), one line in policies.cpp.
//
// A policy sees what a scheduler on the account could know at that moment, never the future. It is
// asked when something it can see changes, and not later than it asked for.

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "trainyard/base/units.hpp"

namespace trainyard::spot {

enum class Purchase { spot, on_demand, reserved, capacity_block };

struct PoolView {
    Purchase purchase = Purchase::spot;
    double usd_per_hour = 0;  ///< of one node, now
    int available = 0;        ///< nodes that a launch would get now, those held included
    Seconds since;            ///< for how long `available` has been what it is; negative: unknown
    int held = 0;             ///< nodes held now
    Seconds held_for;         ///< age of the youngest node held
    bool rebalance = false;   ///< EC2 has sent a rebalance recommendation for a node held
    Seconds window_left;      ///< Capacity Block: until its nodes go; 0 otherwise
    int region = 0;           ///< pools of one region share a number
    double usd_per_move = 0;  ///< data transfer to move the checkpoint here from where it is
};

struct View {
    Seconds now;            ///< since the job was submitted
    Seconds deadline;       ///< same clock; infinite if there is none
    Seconds work;           ///< useful run time needed at full size, without any interruption
    Seconds planned_work;   ///< the same as it was expected before the first step
    Seconds done;           ///< of it, what would survive if everything were lost now
    Seconds restart;        ///< from launch to first useful step
    Seconds overhead_left;  ///< of the restart in progress
    Seconds tick;           ///< decisions happen on multiples of it; 0: at any time
    int nodes = 1;          ///< full size of the gang
    int min_nodes = 1;      ///< below it nothing runs
    std::span<const PoolView> pools;
};

/// Nodes wanted per pool; all zero: hold nothing. The engine launches and releases to get there.
struct Decision {
    std::vector<int> nodes;  ///< one per pool, set to size by the engine
    Seconds ask_again;       ///< time (same clock as now) at which to ask even if nothing changed
};

class Policy {
  public:
    virtual ~Policy() = default;
    Policy() = default;
    Policy(const Policy&) = delete;
    Policy& operator=(const Policy&) = delete;
    /// A new job starts: forget everything.
    virtual void begin(const View& first) = 0;
    virtual void decide(const View& view, Decision& decision) = 0;
    /// Rebalance recommendations are played only for a policy that reads them.
    virtual bool reads_rebalance() const { return false; }
};

struct PolicyInfo {
    std::string name;                                            ///< what the user types: "up"
    std::string summary;                                         ///< one line
    std::string source;                                          ///< paper or documentation
    std::unique_ptr<Policy> (*make)(std::string_view argument);  ///< argument: "0.7" of "share:0.7"
};
/// In the order of the help.
const std::vector<PolicyInfo>& policies();
/// "up", "share:0.7"; nullptr if there is none of this name or the argument is wrong.
std::unique_ptr<Policy> make_policy(std::string_view text);

}  // namespace trainyard::spot
