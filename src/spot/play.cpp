#include "engine.hpp"

namespace trainyard::spot {

RunResult play(const RunSpec& spec, Policy& policy, std::uint64_t seed, std::uint64_t run,
               std::vector<TimelineEvent>* timeline) {
    return Engine(spec).play(policy, seed, run, timeline);
}

}  // namespace trainyard::spot
