#include "launch.hpp"

#include <algorithm>
#include <cmath>

#include "launch_framework.hpp"
#include "render_target.hpp"

namespace trainyard::render {

long save_every(const Recipe& r) {
    const Seconds step =
        r.step_time > Seconds{} ? r.step_time : r.wall.expected / std::max(1.0, r.steps);
    if (step <= Seconds{}) return 1;
    // Never past the end: a short run has at least its last step to show.
    const double most = std::clamp(r.steps, 1.0, 1e9);
    const double steps = std::clamp(r.checkpoint_interval / step, 1.0, most);
    return std::lround(steps);
}

Error cannot_express(const Recipe& r, Framework f, std::string why, Framework nearest) {
    std::string fix = "--framework " + std::string(to_string(nearest));
    if (nearest == f)
        fix = "plan again with another mapping, then --framework " + std::string(to_string(f)) +
              " can";
    return refuse(r, std::string(to_string(f)) + " cannot express this plan", std::move(why),
                  std::move(fix));
}

Result<Launch> training_command(const Recipe& recipe, Framework framework, const Places& places) {
    if (recipe.is_trainium() != (framework == Framework::nxd)) {
        return cannot_express(recipe, framework,
                              recipe.is_trainium()
                                  ? recipe.instance.type + " has Trainium chips"
                                  : recipe.instance.type + " has no Trainium chips",
                              default_framework(recipe));
    }
    switch (framework) {
        case Framework::fsdp:
            return fsdp_command(recipe, places);
        case Framework::megatron:
            return megatron_command(recipe, places);
        case Framework::deepspeed:
            return deepspeed_command(recipe, places);
        case Framework::nxd:
            break;
    }
    return nxd_command(recipe, places);
}

}  // namespace trainyard::render
