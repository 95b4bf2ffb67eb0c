// Maximum likelihood of a Weibull life with right-censoring.
//
// Exact times: with d lives ended among all times t the shape solves
//     sum t^k ln t / sum t^k - 1/k - sum_ended ln t / d = 0   (the left side grows in k)
// and the scale is (sum t^k / d)^(1/k) (Lawless, Statistical Models and Methods for Lifetime Data,
// section 5.2).
//
// Times seen in ticks: a life of n ticks stands for all from n - 1/2 to n + 1/2 ticks (from 0 if
// n = 1), so its likelihood is the difference of survival there. Taking n ticks for exact makes the
// shape too large where many lives last one tick.

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

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

void fit_exact(std::span<const Life> lives, WeibullFit& fit) {
    double unit = 0;
    double total = 0;
    for (const Life& life : lives) {
        unit = std::max(unit, life.time.base());
        total += life.time.base();
    }
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
}

/// How many lives ended, and how many were cut, after n ticks.
class Ticks {
  public:
    Ticks(std::span<const Life> lives, Seconds tick) : tick_(tick) {
        for (const Life& life : lives) {
            const auto n = std::max(1L, std::lround(life.time / tick));
            (life.ended ? ended_ : cut_)[static_cast<double>(n)] += 1;
        }
    }

    double log_likelihood(const Weibull& w) const {
        double sum = 0;
        for (const auto& [n, count] : ended_) {
            const double from = n > 1 ? w.survival((n - 0.5) * tick_) : 1;
            const double to = w.survival((n + 0.5) * tick_);
            sum += count * std::log(std::max(from - to, 1e-300));
        }
        for (const auto& [n, count] : cut_) sum -= count * std::pow(n * tick_ / w.scale, w.shape);
        return sum;
    }

    /// Climbs in the logarithms of both parameters, with steps that are halved when none helps.
    double climb(Weibull& w, bool with_shape) const {
        static constexpr std::array<std::array<int, 2>, 8> kMoves = {
            {{0, 1}, {0, -1}, {1, 0}, {-1, 0}, {1, 1}, {-1, -1}, {1, -1}, {-1, 1}}};
        double best = log_likelihood(w);
        for (double step = 0.3; step > 1e-6;) {
            bool moved = false;
            for (std::size_t i = 0; i < (with_shape ? kMoves.size() : 2); ++i) {
                const Weibull next{w.scale * std::exp(step * kMoves[i][1]),
                                   std::clamp(w.shape * std::exp(0.3 * step * kMoves[i][0]),
                                              kMinShape, kMaxShape)};
                const double value = log_likelihood(next);
                if (!(value > best)) continue;
                best = value;
                w = next;
                moved = true;
            }
            if (!moved) step /= 2;
        }
        return best;
    }

  private:
    Seconds tick_;
    std::map<double, double> ended_;
    std::map<double, double> cut_;
};

void fit_ticks(std::span<const Life> lives, Seconds tick, WeibullFit& fit) {
    const Ticks ticks(lives, tick);
    double total = 0;
    for (const Life& life : lives) total += life.time.base();
    Weibull exponential{total / fit.ended * kSecond, 1};
    fit.log_likelihood = ticks.climb(fit.life, true);
    fit.exponential_log_likelihood = ticks.climb(exponential, false);
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
    double shortest = 0;
    double longest = 0;
    for (const Life& life : lives) {
        (life.ended ? fit.ended : fit.censored) += 1;
        const double t = life.time.base();
        if (life.ended && (shortest == 0 || t < shortest)) shortest = t;
        longest = std::max(longest, t);
    }
    if (fit.ended < kMinEnded || shortest == longest) return std::nullopt;
    fit_exact(lives, fit);
    if (tick > Seconds{}) fit_ticks(lives, tick, fit);
    fit.ks = distance(lives, fit.life, tick);
    return fit;
}

}  // namespace trainyard::spot
