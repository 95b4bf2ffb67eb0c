// Processes from Spot Advisor bands. The band is the share of instances interrupted in a month.
// Read as the chance that a new instance is lost within T = 730 h, with the shape k of the fitted
// traces:
//     1 - exp(-(T/scale)^k) = p    =>    scale = T / (-ln(1 - p))^(1/k)
// and p is the middle of the band (docs/model/spot-processes.md).

#include <algorithm>
#include <cmath>

#include "trainyard/spot/fit.hpp"

namespace trainyard::spot {

namespace {

/// Beyond these the scale has no meaning: nobody is ever, or everybody is at once, interrupted.
constexpr double kLeast = 1e-4;
constexpr double kMost = 0.99;

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
    const double p = std::clamp((low_per_month + high_per_month) / 2, kLeast, kMost);
    PoolProcess process;
    process.name = std::move(name);
    process.up.shape = median_of(false, [](const PoolProcess& f) { return f.up.shape; });
    process.up.scale = kMonth / std::pow(-std::log1p(-p), 1 / process.up.shape);
    process.down.shape = median_of(false, [](const PoolProcess& f) { return f.down.shape; });
    const double down_mean =
        median_of(false, [](const PoolProcess& f) { return f.down.mean().base(); });
    process.down.scale = down_mean / std::tgamma(1 + 1 / process.down.shape) * kSecond;
    process.start_up = process.up.mean() / (process.up.mean() + process.down.mean());
    process.gang = gang;
    if (gang > 1) {
        process.gang_share = median_of(true, [](const PoolProcess& f) { return f.gang_share; });
        const double part = median_of(true, [](const PoolProcess& f) { return f.burst / f.gang; });
        process.burst = std::max(1.0, part * gang);
    }
    process.source = {"Spot Advisor band, with the shape of the fitted traces", "", "assumed"};
    return process;
}

}  // namespace trainyard::spot
