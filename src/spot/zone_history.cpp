#include "zone_history.hpp"

#include <algorithm>
#include <cmath>

namespace trainyard::spot {
namespace {

/// The interval of the published simulation: what a life in the tail is counted in.
constexpr double kTick = 600.0 / 3600;
constexpr double kRecentRisk = 8;  ///< expected losses that the recent past goes back
constexpr double kNoHazard = 1e-8;
constexpr std::size_t kLives = 200;

}  // namespace

void ZoneHistory::begin() {
    lives_.clear();
    recent_.clear();
    volatility_ = 1;
    up_since_ = age_ = 0;
    available_ = false;
}

void ZoneHistory::see(double now, bool available, double age) {
    if (available_) {
        const double before = cumulative_hazard(age_);
        age_ = std::max(0.0, now - up_since_);
        const double risk = std::max(0.0, cumulative_hazard(age_) - before);
        add_exposure(risk, available ? 0 : 1);
    }
    if (available_ && !available) {
        if (lives_.size() == kLives) {
            lives_.erase(std::min_element(lives_.begin(), lives_.end(),
                                          [](Life a, Life b) { return a.end < b.end; }));
        }
        const Life life{age_, now};
        const auto place = std::lower_bound(lives_.begin(), lives_.end(), life,
                                            [](Life a, Life b) { return a.hours < b.hours; });
        lives_.insert(place, life);
    } else if (!available_ && available) {
        up_since_ = age >= 0 ? now - age : now;
        age_ = std::max(0.0, now - up_since_);
    }
    available_ = available;
}

/// Steps 1/(lives at least as long) at the length of each life; beyond the last one the same step
/// per tick.
double ZoneHistory::cumulative_hazard(double age) const {
    double sum = 0;
    double last = 0;
    double step = kNoHazard;
    for (std::size_t i = 0; i < lives_.size() && lives_[i].hours < age; ++i) {
        step = 1 / static_cast<double>(lives_.size() - i);
        sum += step;
        last = lives_[i].hours;
    }
    const bool tail = lives_.empty() || age > lives_.back().hours;
    return tail ? sum + (age - last) * step : sum;
}

/// Losses per expected loss in the densest recent stretch that expects at most one: if it is above
/// 1, the zone is worse now than its lives say.
void ZoneHistory::add_exposure(double risk, int failures) {
    if (risk <= 0 && failures == 0) return;
    if (failures == 0 && !recent_.empty() && recent_.back().failures == 0) {
        recent_.back().risk += risk;  // quiet time is one stretch
    } else {
        recent_.push_back({std::max(risk, 1e-6), failures});
    }
    double total = 0;
    for (const Exposure& e : recent_) total += e.risk;
    while (total - recent_.front().risk >= kRecentRisk) {
        total -= recent_.front().risk;
        recent_.erase(recent_.begin());
    }
    volatility_ = 1;
    if (total < 1) return;
    double seen = 0;
    int lost = 0;
    for (auto e = recent_.rbegin(); e != recent_.rend(); ++e) {
        seen += e->risk;
        lost += e->failures;
        if (seen > 1) break;
        volatility_ = std::max(volatility_, lost / seen);
    }
}

double ZoneHistory::expected_life() const {
    double expected = 0;
    double survival = 1;
    double at = available_ ? age_ : 0;
    double step = kNoHazard;
    for (std::size_t i = 0; i < lives_.size(); ++i) {
        step = 1 / static_cast<double>(lives_.size() - i);
        if (lives_[i].hours <= at) continue;
        expected += survival * (lives_[i].hours - at);
        survival *= std::exp(-volatility_ * step);
        at = lives_[i].hours;
    }
    return expected + survival * kTick / -std::expm1(-volatility_ * step);
}

}  // namespace trainyard::spot
