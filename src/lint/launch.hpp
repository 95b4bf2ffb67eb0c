#pragma once
// Lines that start training processes: torchrun, deepspeed, accelerate, mpirun, alone or below
// srun; with what the shell's own variables and the #SBATCH lines say about them.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model.hpp"

namespace trainyard::lint {

struct Launch {
    const Document* document = nullptr;
    const Job* job = nullptr;        ///< the pod, the script or the docker command
    std::string launcher;            ///< "torchrun", "deepspeed", "accelerate", "mpirun", "python"
    std::vector<Said> words;         ///< from the launcher on
    std::vector<Said> srun;          ///< the words of srun in front of it; empty: not below srun
    bool is_inner = false;           ///< inside `bash -c '…'`: every node expands it for itself
    std::optional<Count> nodes;      ///< --nnodes and its like, if it is a number
    std::optional<Count> processes;  ///< per node
    std::optional<Count> tasks;      ///< tasks per node that srun starts
    std::optional<Count> gpus;       ///< per node that Slurm gives
    std::optional<Count> allocated;  ///< nodes that Slurm gives
    Said at;                         ///< the launcher's word
    Said outer;                      ///< the text behind -c, if is_inner
    bool is_open = false;            ///< options may come from variables that nobody sets here

    /// On several nodes: by its own option, else by the allocation.
    bool is_multi_node() const;
    /// As the launch says, else as Slurm gives; 1 if neither does.
    std::int64_t node_count() const;
    /// Processes on all nodes; 0: not said, or more nodes than `most_nodes` or 64 a node.
    std::int64_t world_size(std::int64_t most_nodes) const;
    bool is_torch() const {
        return launcher == "torchrun" || launcher == "accelerate" || launcher == "python";
    }
};

/// Pods, docker commands and scripts of the case.
std::vector<Launch> find_launches(const Case& c);
/// The same, found once by build_case.
inline const std::vector<Launch>& launches(const Case& c) { return *c.launches; }

/// The words of a script with the values of its variables taken apart, as Megatron's scripts write
/// their arguments: ARGS="--num-layers 32 \ …", ARGS=( --num-layers 32 … ).
std::vector<Said> argument_words(const Document& d);

/// $X and ${X} replaced by the script's own literals, SLURM_NNODES and its like by the directives;
/// what is unknown stays.
std::string resolved(const Document& d, std::string_view text);
/// The number that an option says after that.
std::optional<Count> option_count(const Document& d, const std::vector<Said>& words,
                                  std::initializer_list<std::string_view> names);

/// The source from a place on.
std::string_view raw_at(const Document& d, const Location& where);
/// $NAME stands in this word where the outer shell expands it: not escaped, not in single quotes.
bool is_expanded_early(const Document& d, const Said& word, std::string_view name);

/// The one type with accelerators that the pools, jobs and SageMaker jobs of the case name; empty
/// if there are several or none.
Said only_type(const Case& c);
/// Instance type that the case names for a script: its one pool with accelerators.
const catalog::Instance* instance_of(const Case& c, const Launch& launch);

}  // namespace trainyard::lint
