#pragma once
// A run with its world: the loop around the machine, the attempt, the checkpoints and the journal.

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "trainyard/agent/checkpoints.hpp"
#include "trainyard/agent/group_watch.hpp"
#include "trainyard/agent/imds.hpp"
#include "trainyard/agent/machine.hpp"
#include "trainyard/agent/observer.hpp"
#include "trainyard/agent/progress.hpp"
#include "trainyard/base/result.hpp"
#include "trainyard/sys/child.hpp"

namespace trainyard::agent {

struct Settings {
    std::vector<std::string> command;
    std::string state;  ///< directory of the run's state; made if it is not there
    CheckpointPlace place;
    store::PruneRules keep;  ///< of the store, after each commit
    bool has_keep = false;
    Policy policy;
    std::optional<ProgressPattern> pattern;
    std::optional<ImdsSettings> imds;         ///< nullopt: not watched
    std::optional<GroupWatchSettings> group;  ///< nullopt: this node alone
    ObserverSettings observer;                ///< of a group: the price of this node
    std::optional<Seconds> planned_step;      ///< of the plan, to compare with
    doc::Node plan;                           ///< of it, for the record
    std::optional<int> metrics_port;          ///< on loopback; 0: any free one
    std::string words;   ///< of the user, as JSON: what `trainyard resume` runs again
    std::string folder;  ///< that they were typed in
    int display = -1;    ///< descriptor that the command's output is copied to; -1: none
    sys::SignalQueue* signals = nullptr;
    /// Ends the transfers of the store at once.
    std::function<void()> abandon_store;
    /// A line for the user.
    std::function<void(action::Say::Level, const std::string&)> say;
};

struct RunResult {
    Ending ending = Ending::done;
    int command_code = 0;
    Memory memory;
    std::vector<std::string> evidence;  ///< lines, if it was given up
};

/// The signals that `supervise` answers; to be blocked before any thread is started.
std::vector<int> answered_signals();

/// ErrorKind::usage: another supervisor works on this state, or another command still runs in it.
Result<RunResult> supervise(sys::Env& env, const Settings& settings);

}  // namespace trainyard::agent
