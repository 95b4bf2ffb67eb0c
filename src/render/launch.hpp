#pragma once
// The training command of a framework: the words behind the launcher, and the files it reads.
// How the launcher finds the other nodes is the target's part.

#include <string>
#include <vector>

#include "trainyard/render/directory.hpp"
#include "trainyard/render/recipe.hpp"
#include "trainyard/render/target.hpp"

namespace trainyard::render {

/// Where things are on a node, as the target lays them out: plain text, not yet quoted.
struct Places {
    std::string data;        ///< directory of the training data
    std::string checkpoint;  ///< directory that the program saves to and resumes from
    std::string config;      ///< directory that holds this rendering's own files
};

struct Launch {
    Framework framework = Framework::fsdp;
    int ranks_per_node = 1;            ///< processes that the launcher starts on a node
    std::vector<std::string> program;  ///< script and arguments, one word each, unquoted
    std::vector<File> files;           ///< beside the job script: a DeepSpeed JSON
    std::string notice = "USR1";  ///< signal on which a rank saves and ends well; "": it cannot
    std::vector<std::string> expects;  ///< for the README: what the user's script has to do
};

/// Refused with the reason where the framework cannot express the recipe's mapping.
Result<Launch> training_command(const Recipe& recipe, Framework framework, const Places& places);

}  // namespace trainyard::render
