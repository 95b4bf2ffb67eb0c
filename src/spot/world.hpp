#pragma once
// All pools of one run: the same for every policy and for the clairvoyant bound.

#include <cstdint>
#include <vector>

#include "market.hpp"
#include "trainyard/base/random.hpp"
#include "trainyard/spot/run.hpp"

namespace trainyard::spot {

class World {
  public:
    explicit World(const RunSpec& spec);
    /// Returns the stream that is left for what belongs to no pool. `signals`: recommendations.
    Random begin(std::uint64_t seed, std::uint64_t run, bool signals);
    std::vector<Market>& markets() { return markets_; }

  private:
    std::vector<Market> markets_;
    double longest_trace_ = 0;
    bool from_start_ = false;
};

}  // namespace trainyard::spot
