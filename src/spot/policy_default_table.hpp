#pragma once
// What each choice costs under the default policy's model: a dynamic programme over time left,
// slack, money that may still be lost, regime, availability and its age. docs/model/spot-policy.md
//
// Time is counted in steps of `Grid::step`, money in steps of on-demand use. Slack is time left
// less work left (a restart in progress counts as work).

#include <cstdint>
#include <memory>
#include <vector>

#include "policy_default_model.hpp"
#include "trainyard/base/units.hpp"

namespace trainyard::spot {

/// Tables are made for spot prices this share of the on-demand price apart: prices move often, and
/// a table takes a second.
inline constexpr double kRatioStep = 0.08;

/// What a table is made for. Equal grids share one table.
struct Grid {
    Seconds step;
    double restart = 0;      ///< steps
    double price_ratio = 0;  ///< spot over on-demand
    int most_work = 0;       ///< steps
    int most_slack = 0;      ///< steps
    bool operator==(const Grid&) const = default;
};

/// Steps fit for a job: a whole part of the restart where that is not finer than the decisions.
Grid grid_for(Seconds work, Seconds slack, Seconds restart, Seconds tick, double price_ratio);

/// Expected cost over that of on-demand now (going there, or staying); in steps of on-demand.
struct Gain {
    double launch = 0;  ///< of launching spot; only if it is there
    double idle = 0;    ///< of holding nothing
};

class ValueTable {
  public:
    ValueTable(const SpotPrior& prior, const Grid& grid);

    /// A point between grid points.
    struct Place {
        std::size_t cell = 0;  ///< of its lower corner
        double slack = 0;      ///< share of the upper corner
        double money = 0;
    };
    /// All in steps. Beyond the table, work and slack are scaled down together.
    Place place(double work, double slack, double money) const;
    Gain gain(const Place& place, bool is_on_demand, bool is_up, int regime, int age) const;

    const Grid& grid() const { return grid_; }
    std::size_t bytes() const { return stored_.size() * sizeof(float); }

  private:
    friend class TableSolver;
    double read(const Place& place, std::size_t column) const;

    Grid grid_;
    std::size_t ages_ = 0;  ///< regimes times age classes
    int layers_ = 0;        ///< stored, one every kLayerStride steps of time left
    std::vector<double> slack_;
    std::vector<double> money_;
    std::vector<float> stored_;
};

/// From a cache that all threads share; solved on the first call (about a second).
std::shared_ptr<const ValueTable> value_table(const SpotPrior& prior, const Grid& grid);

}  // namespace trainyard::spot
