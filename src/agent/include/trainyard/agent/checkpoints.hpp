#pragma once
// The checkpoints of a run: what lies in the directory, what the store holds, which of them an
// attempt begins from. docs/reference/supervisor.md states the rules.

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "trainyard/agent/machine.hpp"
#include "trainyard/store/recognise.hpp"
#include "trainyard/store/repository.hpp"

namespace trainyard::agent {

struct CheckpointPlace {
    std::string directory;  ///< where the command writes them; empty: none
    store::RecogniseOptions recognise;
    store::Repository* repository = nullptr;  ///< nullptr: no store
    std::string store_name;                   ///< for messages
};

struct LocalCheckpoint {
    std::string path;
    std::int64_t step = 0;
    store::Recognition found;
};

/// Tells each complete checkpoint once.
class Scanner {
  public:
    Scanner(sys::Env& env, CheckpointPlace place);
    /// New complete ones, the oldest first. `no_writers`: the command is over and ended well, so
    /// what only waited for quiet is complete.
    std::vector<LocalCheckpoint> look(bool no_writers);
    /// Steps up to here are known already.
    void start_from(std::int64_t step);
    /// The latest modification seen in a checkpoint that was not known yet; nanoseconds since 1970.
    std::int64_t last_write_ns() const { return last_write_ns_; }

  private:
    sys::Env& env_;
    CheckpointPlace place_;
    std::set<std::string> known_;
    std::int64_t floor_ = -1;
    std::int64_t last_write_ns_ = 0;
};

/// Finds what an attempt begins from: the newest complete checkpoint of the directory or, where the
/// store has a newer one, that one restored beside it. What a dead command left half-written
/// beyond that point is renamed out of the way (NAME.incomplete.tmp), and a tracker file that names
/// another step is put right. Only for a time when the command does not run.
/// `committed`: the newest step that the store is known to have held; a store that shows nothing at
/// all then (a disk that is not mounted) is an error. `say` gets what a user should know.
Event prepare(sys::Env& env, const CheckpointPlace& place, std::int64_t committed,
              const std::function<void(std::string)>& say);

/// The same for one of several nodes, which all begin from the step of their generation: what the
/// directory holds beyond it, whole or not, is renamed out of the way (NAME.superseded.tmp). Where
/// all share the directory only rank 0 renames and restores.
Event prepare_step(sys::Env& env, const CheckpointPlace& place, const GroupPlace& group,
                   const std::function<void(std::string)>& say);

/// The step that the next generation begins from: the newest of the store or, where all nodes share
/// the directory, of that; -1: there is none.
Result<std::int64_t> newest_step(sys::Env& env, const CheckpointPlace& place, bool is_shared);

/// "checkpoint-100" for step 100 as the other names in the directory have it, else as the layout's
/// own trainer names it.
std::string checkpoint_name(sys::Env& env, const std::string& directory, const std::string& layout,
                            std::int64_t step);

}  // namespace trainyard::agent
