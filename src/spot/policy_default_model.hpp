#pragma once
// What the default policy believes about one spot pool (docs/model/spot-policy.md).
//
// A pool is in one of a few hidden regimes. In a regime, capacity comes and goes with a hazard that
// depends on how long it has been there, or away. Regimes change slowly. Hazards and rates are per
// hour; ages are hours.

#include <array>
#include <optional>
#include <string_view>
#include <vector>

#include "trainyard/base/result.hpp"
#include "trainyard/base/units.hpp"

namespace trainyard::spot {

/// Hours at which an age class begins: doubling from the 10.5 minutes between two probes of the
/// traces that the hazards are fitted to.
inline constexpr std::array<double, 9> kAgeFrom = {0, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 12.8, 25.6};
inline constexpr int kAges = static_cast<int>(kAgeFrom.size());
inline constexpr int kMostRegimes = 4;
using AgeRow = std::array<double, kAgeFrom.size()>;

int age_class(double hours);
/// Length of an age class; the last has no end: infinite.
double age_length(int age_class);

struct Regime {
    double share = 0;                       ///< of pool time
    std::array<AgeRow, 2> hazard{};         ///< per hour; [1]: loss while up, [0]: return
    std::array<double, kMostRegimes> to{};  ///< changes per hour into the other regimes
    std::array<AgeRow, 2> age_share{};      ///< of the time in a state, by age class; derived
    std::array<AgeRow, 2> passed{};         ///< cumulative hazard at the class's start; derived
    double up_share = 0;                    ///< of time; derived
    bool operator==(const Regime&) const = default;
};

struct SpotPrior {
    std::vector<Regime> regimes;
    int size() const { return static_cast<int>(regimes.size()); }
    bool operator==(const SpotPrior&) const = default;
};

/// Columns fit, regime, what, key, value, … of data/spot/default_policy.csv; the rows of one fit.
Result<SpotPrior> read_spot_prior(std::string_view csv, std::string_view file,
                                  std::string_view fit);
/// The one that is built in.
const SpotPrior& spot_prior();

/// Probabilities of (regime, age class) of one pool, from what was seen of it.
class PoolBelief {
  public:
    explicit PoolBelief(const SpotPrior& prior) : prior_(&prior) {}
    /// `since`: for how long it has been so; negative: unknown.
    void begin(Seconds now, bool is_up, Seconds since);
    /// The pool has been as last seen until now, and is_up from now on.
    void see(Seconds now, bool is_up);

    bool is_up() const { return is_up_; }
    /// Calls f(regime, age class, probability) for those that matter.
    template <typename F>
    void each(F f) const {
        for (int r = 0; r < prior_->size(); ++r) {
            const double weight = weight_[static_cast<std::size_t>(r)];
            if (age_) {
                f(r, age_class(*age_), weight);
                continue;
            }
            for (int a = 0; a < kAges; ++a) {
                const double share =
                    ages_[static_cast<std::size_t>(r)][static_cast<std::size_t>(a)];
                if (share > 1e-6) f(r, a, weight * share);
            }
        }
    }

  private:
    void stay(double hours);
    void stay_unknown(double hours);
    void change();
    void drift(double hours);
    void normalise();

    const SpotPrior* prior_;
    double at_ = 0;  ///< hours
    bool is_up_ = false;
    std::optional<double> age_;  ///< hours; unknown until the first change
    std::array<double, kMostRegimes> weight_{};
    std::array<AgeRow, kMostRegimes> ages_{};  ///< age class given the regime, age unknown
};

}  // namespace trainyard::spot
