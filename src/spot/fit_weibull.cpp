// Maximum likelihood of a Weibull life with right-censoring. With d lives ended among all times t:
// the shape solves  sum t^k ln t / sum t^k - 1/k - sum_ended ln t / d = 0  (the left side grows in
// k), the scale is (sum t^k / d)^(1/k) (Lawless, Statistical Models and Methods for Lifetime Data,
// section 5.2).

#include <algorithm>
#include <cmath>

#include "trainyard/spot/fit.hpp"

namespace trainyard::spot {

namespace {

constexpr double kMinShape = 0.02;
constexpr double kMaxShape = 50;
constexpr int kMinEnded = 5;

struct Sums {
    double power = 0;      ///< sum t^k
    double power_log = 0;  ///< sum t^k ln t
};

Sums sums(std::span<const Life> lives, double unit, double shape) {
    Sums s;
    for (const Life& life : lives) {
        const double t = life.time.base() / unit;
        const double p = std::pow(t, shape);
        s.power += p;
        s.power_log += p * std::log(t);
    }
    return s;
}

double distance(std::span<const Life> lives, const Weibull& fitted, Seconds tick) {
    const KaplanMeier seen = kaplan_meier(lives);
    double worst = 0;
    double before = 1;
    for (std::size_t i = 0; i < seen.time.size(); ++i) {
        const double model = fitted.survival(seen.time[i] * kSecond + tick / 2);
        worst = std::max(worst, std::abs(model - seen.survival[i]));
        if (tick <= Seconds{}) worst = std::max(worst, std::abs(model - before));
        before = seen.survival[i];
    }
    return worst;
}

}  // namespace

KaplanMeier kaplan_meier(std::span<const Life> lives) {
    std::vector<std::pair<double, bool>> all;
    all.reserve(lives.size());
    for (const Life& life : lives) all.emplace_back(life.time.base(), life.ended);
    std::sort(all.begin(), all.end());
    KaplanMeier curve;
    double survival = 1;
    for (std::size_t i = 0; i < all.size();) {
        const double time = all[i].first;
        const double at_risk = static_cast<double>(all.size() - i);
        double deaths = 0;
        for (; i < all.size() && all[i].first == time; ++i) deaths += all[i].second ? 1 : 0;
        if (deaths == 0) continue;
        survival *= 1 - deaths / at_risk;
        curve.time.push_back(time);
        curve.survival.push_back(survival);
    }
    return curve;
}

double KaplanMeier::at(Seconds age) const {
    const auto after = std::upper_bound(time.begin(), time.end(), age.base());
    return after == time.begin() ? 1 : survival[static_cast<std::size_t>(after - time.begin()) - 1];
}

std::optional<WeibullFit> fit_weibull(std::span<const Life> all, Seconds tick) {
    std::vector<Life> lives;
    std::copy_if(all.begin(), all.end(), std::back_inserter(lives),
                 [](const Life& life) { return !life.first && life.time > Seconds{}; });
    WeibullFit fit;
    double unit = 0;
    double total = 0;
    double shortest = 0;
    for (const Life& life : lives) {
        const double t = life.time.base();
        (life.ended ? fit.ended : fit.censored) += 1;
        if (life.ended && (shortest == 0 || t < shortest)) shortest = t;
        unit = std::max(unit, t);
        total += t;
    }
    if (fit.ended < kMinEnded || shortest == unit) return std::nullopt;
    double logs = 0;
    for (const Life& life : lives) {
        if (life.ended) logs += std::log(life.time.base() / unit);
    }
    const double d = fit.ended;
    double low = kMinShape;
    double high = kMaxShape;
    for (int i = 0; i < 200 && high / low > 1 + 1e-13; ++i) {
        const double middle = std::sqrt(low * high);
        const Sums s = sums(lives, unit, middle);
        const bool too_large = s.power_log / s.power - 1 / middle - logs / d > 0;
        (too_large ? high : low) = middle;
    }
    const double shape = std::sqrt(low * high);
    const double scale = std::pow(sums(lives, unit, shape).power / d, 1 / shape);
    fit.life = {scale * unit * kSecond, shape};
    // d ln k - d k ln scale + (k - 1) sum ln t - sum (t/scale)^k, and the last sum is d.
    const double log_times = logs + d * std::log(unit);
    fit.log_likelihood =
        d * std::log(shape) - d * shape * std::log(scale * unit) + (shape - 1) * log_times - d;
    fit.exponential_log_likelihood = -d * std::log(total / d) - d;
    fit.ks = distance(lives, fit.life, tick);
    return fit;
}

}  // namespace trainyard::spot
