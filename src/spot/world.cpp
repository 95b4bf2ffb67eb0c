#include "world.hpp"

#include <algorithm>

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

}  // namespace trainyard::spot
