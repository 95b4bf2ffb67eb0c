// Weibull lives: S(t) = exp(-(t/scale)^shape); shape < 1: the hazard falls with age.

#include "trainyard/spot/process.hpp"

#include <cmath>

namespace trainyard::spot {

Seconds Weibull::mean() const { return scale * std::tgamma(1 + 1 / shape); }

double Weibull::hazard(Seconds age) const {
    return shape / scale.base() * std::pow(age / scale, shape - 1);
}

double Weibull::survival(Seconds age) const {
    return age <= Seconds{} ? 1.0 : std::exp(-std::pow(age / scale, shape));
}

}  // namespace trainyard::spot
