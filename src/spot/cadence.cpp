#include "trainyard/spot/cadence.hpp"

#include <algorithm>
#include <cmath>

namespace trainyard::spot {

Seconds young_interval(Seconds save, Seconds mean_between) {
    return std::sqrt(2 * save.base() * mean_between.base()) * kSecond;
}

Seconds daly_interval(Seconds save, Seconds mean_between) {
    if (!(save < 2 * mean_between)) return mean_between;
    if (save <= Seconds{}) return Seconds{};
    const double x = std::sqrt(save / (2 * mean_between));
    return young_interval(save, mean_between) * (1 + x / 3 + x * x / 9) - save;
}

Seconds daly_wall_time(Seconds work, Seconds interval, Seconds save, Seconds restart,
                       Seconds mean_between) {
    return mean_between * std::exp(restart / mean_between) *
           std::expm1((interval + save) / mean_between) * (work / interval);
}

Seconds interval_at_age(Seconds save, const Weibull& life, Seconds age) {
    return young_interval(save, (1 / life.hazard(age)) * kSecond);
}

Seconds best_interval(Seconds save, Seconds restart, Seconds mean_between) {
    // (e^{(t+d)/M} - 1) / t has one minimum, where t = M(1 - e^{-(t+d)/M}): above 0 and below M.
    // The restart multiplies every interval's time by the same e^{R/M}: it cannot move the minimum.
    (void)restart;
    if (save <= Seconds{}) return Seconds{};
    const double golden = (std::sqrt(5.0) - 1) / 2;
    const auto cost = [&](double log_t) {
        const double t = std::exp(log_t);
        return std::log(std::expm1((t + save.base()) / mean_between.base())) - log_t;
    };
    double low = std::log(mean_between.base()) - 25;
    double high = std::log(mean_between.base());
    double a = high - golden * (high - low);
    double b = low + golden * (high - low);
    double cost_a = cost(a);
    double cost_b = cost(b);
    while (high - low > 1e-7) {
        if (cost_a < cost_b) {
            high = b;
            b = a;
            cost_b = cost_a;
            a = high - golden * (high - low);
            cost_a = cost(a);
        } else {
            low = a;
            a = b;
            cost_a = cost_b;
            b = low + golden * (high - low);
            cost_b = cost(b);
        }
    }
    return std::exp((low + high) / 2) * kSecond;
}

}  // namespace trainyard::spot
