#include "launch.hpp"

#include "render_target.hpp"

namespace trainyard::render {

Result<Launch> training_command(const Recipe& recipe, Framework framework, const Places& places) {
    Launch l;
    l.framework = framework;
    l.ranks_per_node = recipe.ranks_per_node();
    l.program = {"train.py", "--data", places.data, "--checkpoint-dir", places.checkpoint};
    return l;
}

}  // namespace trainyard::render
