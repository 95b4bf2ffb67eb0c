#include "launch.hpp"

#include <algorithm>
#include <cmath>

#include "launch_framework.hpp"
#include "render_target.hpp"

namespace trainyard::render {

long save_every(const Recipe& r) {
    if (r.step_time <= Seconds{}) return 1;
    return std::max(1L, std::lround(r.checkpoint_interval / r.step_time));
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
