#pragma once
// The shell text of a Slurm job. Nothing of the user's is in it: that stands in job.env.

#include <string>

#include "launch.hpp"

namespace trainyard::render {

/// Words of a launch that node.sh replaces by its own directories.
inline constexpr const char* kDataWord = "@DATA_DIR@";
inline constexpr const char* kCheckpointWord = "@CHECKPOINT_DIR@";
inline constexpr const char* kConfigWord = "@CONFIG_DIR@";

struct ScriptParts {
    bool is_array = false;
    bool is_gang = false;
    bool resumes = true;
    bool saves_on_notice = true;  ///< else the warning only ends the step
    bool is_spot = false;
    bool stages_data = false;   ///< from S3 to the node before the first step
    bool shares_files = false;  ///< one checkpoint directory for all nodes
};

std::string job_script(const ScriptParts& parts);
std::string node_script(const ScriptParts& parts, const Launch& launch);
/// `framework` decides which file says where a resumed run begins.
std::string checkpoint_script(Framework framework);

}  // namespace trainyard::render
