// Processes from Spot Advisor bands (docs/model/spot-processes.md).
//
// The band is the share of instances interrupted in a month. Instances are started at all times, so
// it is read as the chance that an up time which goes on at a random moment ends within T = 730 h:
//     1/mean x integral of S from 0 to T = P(1/k, (T/scale)^k) = p
// with P the regularised lower incomplete gamma function. A drop takes only a part of a gang, so
// that drops must be more frequent than p by the inverse of that part.

#include <algorithm>
#include <cmath>

#include "trainyard/spot/fit.hpp"

namespace trainyard::spot {

namespace {

/// Beyond these the scale has no meaning: nobody is ever, or everybody is at once, interrupted.
constexpr double kLeast = 1e-4;
constexpr double kMost = 0.99;

/// P(a, x) by its series: x^a e^-x sum x^n / Gamma(a + n + 1).
double incomplete_gamma(double a, double x) {
    if (x <= 0) return 0;
    double term = 1 / a;
    double sum = term;
    for (int n = 1; n < 10000 && term > sum * 1e-16; ++n) {
        term *= x / (a + n);
        sum += term;
    }
    return std::min(1.0, sum * std::exp(a * std::log(x) - x - std::lgamma(a)));
}

/// x with P(a, x) = p.
double inverse_gamma(double a, double p) {
    double low = 0;
    double high = 1;
    while (incomplete_gamma(a, high) < p) high *= 2;
    for (int i = 0; i < 200; ++i) {
        const double middle = (low + high) / 2;
        (incomplete_gamma(a, middle) < p ? low : high) = middle;
    }
    return (low + high) / 2;
}

template <typename Value>
double median_of(bool gangs, Value value) {
    std::vector<double> values;
    for (const PoolProcess& p : embedded_processes()) {
        if (p.source.status == "fitted" && (p.gang > 1) == gangs) values.push_back(value(p));
    }
    if (values.empty()) return 1;
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

}  // namespace

PoolProcess process_from_band(double low_per_month, double high_per_month, std::string name,
                              int gang) {
    PoolProcess process;
    process.name = std::move(name);
    process.gang = gang;
    double part = 1;  // of the gang, in the mean drop
    if (gang > 1) {
        const double burst = median_of(true, [](const PoolProcess& f) { return f.burst / f.gang; });
        process.gang_share = median_of(true, [](const PoolProcess& f) { return f.gang_share; });
        process.burst = std::max(1.0, burst * gang);
        part = process.gang_share + (1 - process.gang_share) * process.burst / gang;
    }
    const double p = std::clamp((low_per_month + high_per_month) / 2 / part, kLeast, kMost);
    const double shape = median_of(false, [](const PoolProcess& f) { return f.up.shape; });
    process.up = {kMonth / std::pow(inverse_gamma(1 / shape, p), 1 / shape), shape};
    process.down.shape = median_of(false, [](const PoolProcess& f) { return f.down.shape; });
    const double down_mean =
        median_of(false, [](const PoolProcess& f) { return f.down.mean().base(); });
    process.down.scale = down_mean / std::tgamma(1 + 1 / process.down.shape) * kSecond;
    process.start_up = process.up.mean() / (process.up.mean() + process.down.mean());
    process.source = {"Spot Advisor band, with the shape of the fitted traces", "", "assumed"};
    return process;
}

}  // namespace trainyard::spot
