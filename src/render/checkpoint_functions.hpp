#pragma once
// Checkpoints between a node and S3 where nodes share no file system: the shell functions that
// every script of ours sources or holds. One text, because two would differ where it costs a run.

#include <string>

#include "trainyard/render/target.hpp"

namespace trainyard::render {

/// pull, push [all] and watch. They read CHECKPOINT_S3, CHECKPOINT_DIR, QUIET_SECONDS, KEEP_STEPS,
/// `node` and `nodes`. `framework` decides which file says where a resumed run begins.
std::string checkpoint_functions(Framework framework);

/// How many checkpoints stay in S3: as many as the plan's bill counts.
int kept_checkpoints();

}  // namespace trainyard::render
