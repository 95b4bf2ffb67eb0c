#pragma once
// README.md of a rendered directory: what to fill in, how to start, what it costs, how to tear it
// down.

#include <string>
#include <vector>

#include "trainyard/render/directory.hpp"
#include "trainyard/render/recipe.hpp"
#include "trainyard/render/target.hpp"

namespace trainyard::render {

struct ReadmeParts {
    Target target = Target::parallelcluster;
    std::string tool;                    ///< "AWS ParallelCluster 3.16.3"
    std::vector<std::string> start;      ///< shell commands, one a line
    std::vector<std::string> tear_down;  ///< shell commands, one a line
    std::vector<std::string> notes;      ///< Markdown, our own text
    std::string more_per_hour;           ///< "plus a c7i.2xlarge head node": beside the nodes
};

/// Adds README.md; the placeholders that it lists are those found in the files already there. The
/// plan's hash of files that can hold no comment (JSON) is listed here.
void add_readme(Directory& directory, const Recipe& recipe, const ReadmeParts& parts);

}  // namespace trainyard::render
