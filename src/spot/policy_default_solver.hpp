#pragma once
// Fills a ValueTable. Private to it.

#include <array>
#include <vector>

#include "policy_default_table.hpp"

namespace trainyard::spot {

inline constexpr int kLayerStride = 4;  ///< steps of time left from one stored layer to the next
/// Stored per point: idle, spot up: launch, wait; down: wait; the same while on demand.
inline constexpr std::size_t kGroups = 6;

class TableSolver {
  public:
    TableSolver(const SpotPrior& prior, ValueTable& table);
    void solve();

  private:
    using Values = std::vector<float>;  ///< [slack][money][regime][age class]
    enum Situation { up_idle, up_spot, up_on_demand, down_idle, down_on_demand, situations };
    enum Choice { idle_up, spot_up, on_demand_up, launch_up, idle_down, on_demand_down, choices };
    using Layer = std::array<Values, situations>;  ///< expected cost to the end

    /// Where a point lies between two grid points.
    struct Lean {
        std::size_t cell = 0;
        float share = 0;
        bool is_out = false;  ///< below the grid: not allowed
    };
    static Lean lean(const std::vector<double>& grid, double x);

    Layer& layer(int time) { return layers_[static_cast<std::size_t>(time) % layers_.size()]; }
    bool is_needed(int time, std::size_t s) const;
    const float* at(const Values& values, std::size_t slack, std::size_t money) const;
    void between(const Values& values, Lean slack, Lean money, float* out) const;
    void step(const float* same, const float* other, std::size_t state, float cost,
              float* out) const;
    void choose(int time);
    void weigh(int time);
    void drift(Layer& now, std::size_t cell) const;
    void store(int time);

    const SpotPrior& prior_;
    ValueTable& table_;
    const Grid& grid_;
    std::size_t columns_;
    int launch_steps_;  ///< the restart, rounded up
    int lost_steps_;    ///< half of it: when a launch that fails is taken to be lost
    std::array<std::vector<float>, 2> change_;  ///< probability per step, [1]: while up
    std::vector<float> older_;                  ///< probability per step of the next age class
    std::vector<Layer> layers_;                 ///< the last ones, a ring
    std::array<Values, choices> choice_;
    std::vector<Lean> after_spot_, after_launch_, after_loss_, after_leaving_;  ///< by money
    std::vector<Lean> after_idle_, after_restart_, after_wait_;                 ///< by slack
    std::vector<bool> may_launch_;                                              ///< by money
};

}  // namespace trainyard::spot
