#include "world.hpp"

#include <algorithm>
#include <cmath>

namespace trainyard::spot {

World::World(const RunSpec& spec) : from_start_(spec.trace_from_start) {
    markets_.reserve(spec.pools.size());
    for (const Pool& pool : spec.pools) {
        markets_.emplace_back(pool, spec);
        if (pool.trace != nullptr)
            longest_trace_ = std::max(longest_trace_, pool.trace->end.base());
    }
}

Random World::begin(std::uint64_t seed, std::uint64_t run, bool signals) {
    Random random(seed, run);
    const double place = from_start_ ? 0 : random.uniform() * longest_trace_;
    const double start_hour = 24 * random.uniform();
    for (std::size_t i = 0; i < markets_.size(); ++i)
        markets_[i].begin(seed, run, i, place, start_hour, signals);
    return random;
}

Seconds work_of(const RunSpec& spec, std::uint64_t seed, std::uint64_t run) {
    if (spec.step_time.is_exact()) return spec.work;
    constexpr double kTenth = 1.2815515655446004;          // 90 % of a standard normal lies below
    constexpr std::uint64_t kStream = 0x5d1f0a3c9be27461;  // none of the pools' own
    Random random(Random::mix(seed ^ kStream), run);
    const double z = random.normal();
    return std::pow(z < 0 ? 1 / spec.step_time.low : spec.step_time.high, z / kTenth) * spec.work;
}

}  // namespace trainyard::spot
