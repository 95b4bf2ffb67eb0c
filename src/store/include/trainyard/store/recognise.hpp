#pragma once
// Is this directory a checkpoint, of which layout, and is it complete? Told from names, sizes and a
// few kilobytes of contents; docs/reference/store.md lists the rules. Nothing is executed.

#include <optional>
#include <string>
#include <vector>

#include "trainyard/base/units.hpp"
#include "trainyard/store/tree.hpp"

namespace trainyard::store {

enum class Layout {
    dcp,              ///< PyTorch distributed checkpoint: FSDP, FSDP2, torchtitan
    megatron,         ///< Megatron-LM torch_dist: DCP files and metadata.json
    megatron_legacy,  ///< Megatron-LM torch: mp_rank_TT[_PPP]/model_optim_rng.pt
    deepspeed,
    hf_trainer,
    accelerate,
    safetensors,  ///< weights alone
    torch_files,  ///< files of torch.save alone
    plain,
};
std::string_view name(Layout layout);
std::optional<Layout> parse_layout(std::string_view name);

enum class Completeness {
    incomplete,
    settling,  ///< whole as far as can be seen, but nothing marks its end: wait for quiet
    complete,
};

struct RecogniseOptions {
    Seconds quiet = 30 * kSecond;  ///< unchanged for so long, `settling` becomes complete
    std::string marker;            ///< a file that the job writes last; empty: none
    std::optional<int> ranks;      ///< processes that write; unknown: not checked
};

struct Recognition {
    Layout layout = Layout::plain;
    Completeness state = Completeness::incomplete;
    std::vector<std::string> reasons;  ///< why it is not complete; "path: why"
    std::optional<std::int64_t> step;  ///< from the directory's name or the trainer's state
    Tree tree;
};

/// ErrorKind::world if the directory cannot be read at all; what vanishes or is damaged inside is
/// a reason, not an error.
Result<Recognition> recognise(sys::Env& env, const std::string& path,
                              const RecogniseOptions& options);

/// The checkpoints directly below `root` by their names ("iter_0000100", "global_step100",
/// "checkpoint-100", "step_100"), the highest step first. Paths.
Result<std::vector<std::string>> find_checkpoints(sys::Env& env, const std::string& root);

/// 100 of "checkpoint-100", "iter_0000100", "epoch=1-step=100.ckpt", "100"; the last number of the
/// name.
std::optional<std::int64_t> step_of_name(std::string_view name);
/// The name of something half-written: "x.tmp", "tmp-checkpoint-7", "x-unfinished", …
bool is_temporary_name(std::string_view name);

}  // namespace trainyard::store
