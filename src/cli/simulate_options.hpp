#pragma once
// What the user of `trainyard simulate` asks for: the run to play, with the options on top, and how
// to play it.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "command.hpp"
#include "simulate_input.hpp"
#include "trainyard/spot/run.hpp"
#include "trainyard/spot/trace.hpp"

namespace trainyard::cli {

struct CadenceChoice {
    spot::Cadence cadence = spot::Cadence::daly;
    Seconds interval;  ///< fixed only
    std::string name;  ///< as the user types it: "fixed:5m", "daly"
};

/// "fixed:5m", "young", "daly", "best" or "age"; nullopt for anything else.
std::optional<CadenceChoice> parse_cadence(std::string_view text);
/// The name of what the run has.
CadenceChoice cadence_of(const spot::Checkpoints& checkpoints);

struct FailOn {
    bool late = false;         ///< else over budget
    double allowed_share = 0;  ///< of runs that may break the limit
};

struct SimulateRequest {
    SimulateInput input;    ///< with all options applied
    spot::RunSpec offered;  ///< the same with the commitments that the policy does not use
    std::string job_word;   ///< as typed
    std::string given;      ///< " --tokens 300B …": what a next command must repeat
    /// The first is the one that the verdict is about. Empty rest: no comparison.
    std::vector<std::string> policies;
    std::vector<spot::PoolTrace> traces;  ///< pools of the run point into it
    std::vector<Diagnostic> notes;        ///< of the trace importer
    std::uint64_t runs = 0;
    std::uint64_t seed = 1;
    int threads = 0;
    bool compare = true;  ///< play other policies, cadences and what-ifs
    bool rules = false;
    bool curve = false;  ///< checkpoint interval against cost, and a sampled timeline
    std::vector<FailOn> fail_on;
};

/// The run under a policy. Capacity Blocks and commitments are paid whole, used or not, and are not
/// bought yet: only the plan's own policy and "reserved" are played with them.
spot::RunSpec spec_for(const SimulateRequest& request, const std::string& policy);

/// Without those of simulate_job_options().
std::vector<Option> simulate_play_options();

/// Every mistake at once. Reads the job, the plan and the traces.
Result<SimulateRequest> simulate_request(const Args& args, const std::string& today);

}  // namespace trainyard::cli
