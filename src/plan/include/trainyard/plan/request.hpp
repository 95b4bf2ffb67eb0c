#pragma once
// What the planner is asked: the job, the team that runs it, and today's date (a pure module reads
// no clock).

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "trainyard/base/units.hpp"
#include "trainyard/perf/calibration.hpp"
#include "trainyard/workload/job.hpp"

namespace trainyard::plan {

/// Facts about the people that decide the service. 0 people = not said.
struct Team {
    int people = 0;
    bool kubernetes = false;
    bool slurm = false;
    bool managed = false;
};

/// A speed-up the user measured, to be compared with what the model expects with and without a
/// working fabric.
struct Observed {
    double speedup = 0;  ///< over one node
    std::string instance;
    int nodes = 0;
};

enum class SpotPreference { when_safe, always };
/// Does the cluster's EFA work? `tcp` shows what a broken or missing fabric does to the plan.
enum class FabricWish { efa, tcp };
/// How large a plan the caller wants computed: the scaling curve costs extra searches.
enum class Detail { summary, full };

/// Machines the user already has: bought, reserved or standing in the user's own room. The plan
/// uses up to that many of them and nothing else; renting is shown beside it.
struct Owned {
    std::string instance;  ///< the EC2 type, or the one most like the machine
    int nodes = 1;
    UsdPerSecond rate;  ///< what one of them costs the user per hour of this job; often nothing
};

/// The question as it was typed, so that the answer can repeat it with other numbers.
struct Invocation {
    std::string job;
    std::vector<std::pair<std::string, std::string>> options;  ///< name without dashes, value
};

struct Request {
    workload::Job job;
    std::string today;  ///< YYYY-MM-DD, for the age of prices
    Team team;
    std::vector<std::string> why_not;       ///< instance types the user wants to see beaten
    std::vector<std::string> accelerators;  ///< catalog ids; empty = any
    std::optional<Usd> value_per_day;       ///< what finishing one day earlier is worth
    std::optional<Observed> observed;
    SpotPreference spot_preference = SpotPreference::when_safe;
    FabricWish fabric = FabricWish::efa;
    Detail detail = Detail::summary;
    std::optional<Owned> have;
    perf::Calibrations calibrations;  ///< of one's own measured runs
    Invocation typed;
};

}  // namespace trainyard::plan
