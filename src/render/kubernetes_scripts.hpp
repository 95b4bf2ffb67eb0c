#pragma once
// The shell text that a pod runs. Nothing of the user's is in it: that comes as environment and
// arguments.

#include <string>

#include "trainyard/render/target.hpp"

namespace trainyard::render {

struct PodScriptParts {
    bool stages_data = false;   ///< from S3 to the node's disk before the first step
    bool shares_files = false;  ///< one checkpoint directory for all nodes
    bool resumes = true;
    Framework framework = Framework::fsdp;
    std::string notice;  ///< signal on which a rank saves and ends: "USR1", "TERM"; "": none
};

/// run.sh: what a pod does, from its data to the last checkpoint. Arguments: the program.
std::string pod_script(const PodScriptParts& parts);

}  // namespace trainyard::render
