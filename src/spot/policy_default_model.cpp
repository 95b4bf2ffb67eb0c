#include "policy_default_model.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <string>

#include "trainyard/base/contract.hpp"
#include "trainyard/base/text.hpp"
#include "trainyard/doc/csv.hpp"

namespace trainyard::spot {

const std::map<std::string, std::string>& embedded_files();

namespace {

std::size_t index(int i) { return static_cast<std::size_t>(i); }

/// Age shares in a long-run look at the pool: proportional to the survival inside the class.
void derive(Regime& regime) {
    std::array<double, 2> mean{};
    for (const std::size_t state : {std::size_t{0}, std::size_t{1}}) {
        double passed = 0;
        for (int a = 0; a < kAges; ++a) {
            const double hazard = regime.hazard[state][index(a)];
            regime.passed[state][index(a)] = passed;
            const double inside = hazard * age_length(a);
            regime.age_share[state][index(a)] = std::exp(-passed) * -std::expm1(-inside) / hazard;
            passed += inside;
            mean[state] += regime.age_share[state][index(a)];
        }
        for (double& share : regime.age_share[state]) share /= mean[state];
    }
    regime.up_share = mean[1] / (mean[0] + mean[1]);
}

double hazard_passed(const Regime& regime, bool is_up, double age) {
    const int a = age_class(age);
    const std::size_t state = is_up ? 1 : 0;
    return regime.passed[state][index(a)] +
           regime.hazard[state][index(a)] * (age - kAgeFrom[index(a)]);
}

}  // namespace

int age_class(double hours) {
    int a = kAges - 1;
    while (a > 0 && hours < kAgeFrom[index(a)] - 1e-9) --a;
    return a;
}

double age_length(int age_class) {
    return age_class + 1 < kAges ? kAgeFrom[index(age_class + 1)] - kAgeFrom[index(age_class)]
                                 : std::numeric_limits<double>::infinity();
}

Result<SpotPrior> read_spot_prior(std::string_view csv, std::string_view file,
                                  std::string_view fit) {
    const auto table = doc::parse_csv(csv, file);
    if (!table) return table.error();
    SpotPrior prior;
    std::vector<Diagnostic> problems;
    for (std::size_t row = 0; row < table->size(); ++row) {
        if (table->cell(row, "fit") != fit) continue;
        const auto number = [&](std::string_view column, double least, double most) {
            const auto value = parse_number(std::string(table->cell(row, column)));
            if (!value || *value < least || *value > most) {
                problems.push_back({Severity::error, table->place(row, column),
                                    std::string(column) + " is not valid", "",
                                    "fit it again: tools/fit_default_policy.py"});
                return least;
            }
            return *value;
        };
        const auto regime = static_cast<std::size_t>(number("regime", 0, kMostRegimes - 1));
        if (prior.regimes.size() <= regime) prior.regimes.resize(regime + 1);
        Regime& r = prior.regimes[regime];
        const std::string_view what = table->cell(row, "what");
        if (what == "share") {
            r.share = number("value", 0, 1);
        } else if (what == "to") {
            r.to[static_cast<std::size_t>(number("key", 0, kMostRegimes - 1))] =
                number("value", 0, 1);
        } else {
            const int a = age_class(number("key", 0, kAgeFrom.back()));
            r.hazard[what == "loss" ? 1 : 0][index(a)] = number("value", 1e-6, 1e3);
        }
    }
    if (!problems.empty()) return bad_input(std::move(problems));
    if (prior.regimes.empty()) {
        return bad_input({{Severity::error,
                           {std::string(file), 0, 0},
                           "no row of fit \"" + std::string(fit) + "\"",
                           "",
                           "fit it again: tools/fit_default_policy.py"}});
    }
    for (Regime& r : prior.regimes) derive(r);
    return prior;
}

const SpotPrior& spot_prior() {
    static const SpotPrior prior = [] {
        auto read =
            read_spot_prior(embedded_files().at("default_policy.csv"), "default_policy.csv", "all");
        TRAINYARD_ASSERT(read.has_value(), "the built-in prior parses; a test checks it");
        return *read;
    }();
    return prior;
}

void PoolBelief::begin(Seconds now, bool is_up, Seconds since) {
    at_ = now / kHour;
    is_up_ = is_up;
    age_ = since < 0 * kSecond ? std::nullopt : std::optional<double>(since / kHour);
    for (int r = 0; r < prior_->size(); ++r) {
        const Regime& regime = prior_->regimes[index(r)];
        weight_[index(r)] = regime.share * (is_up ? regime.up_share : 1 - regime.up_share);
        ages_[index(r)] = regime.age_share[is_up ? 1 : 0];
        if (!age_) continue;
        // density of this age
        const double passed = hazard_passed(regime, is_up, *age_);
        weight_[index(r)] *= std::exp(-passed) * regime.age_share[is_up ? 1 : 0][0];
    }
    normalise();
}

void PoolBelief::see(Seconds now, bool is_up) {
    const double hours = now / kHour - at_;
    at_ = now / kHour;
    if (hours > 0) {
        if (age_) {
            stay(hours);
        } else {
            stay_unknown(hours);
        }
        drift(hours);
    }
    if (is_up != is_up_) {
        change();
        is_up_ = is_up;
        age_ = 0;
    }
    normalise();
}

void PoolBelief::stay(double hours) {
    for (int r = 0; r < prior_->size(); ++r) {
        const Regime& regime = prior_->regimes[index(r)];
        weight_[index(r)] *= std::exp(hazard_passed(regime, is_up_, *age_) -
                                      hazard_passed(regime, is_up_, *age_ + hours));
    }
    *age_ += hours;
}

/// Age classes as a chain: a class is left for the next at one over its length.
void PoolBelief::stay_unknown(double hours) {
    const int parts = std::max(1, static_cast<int>(std::ceil(std::min(hours, 100.0) / 0.1)));
    const double part = hours / parts;
    for (int r = 0; r < prior_->size(); ++r) {
        AgeRow& ages = ages_[index(r)];
        const AgeRow& hazard = prior_->regimes[index(r)].hazard[is_up_ ? 1 : 0];
        for (int i = 0; i < parts; ++i) {
            double left = 0;
            double entering = 0;
            for (int a = 0; a < kAges; ++a) {
                const double kept = ages[index(a)] * std::exp(-hazard[index(a)] * part);
                const double older = kept * std::min(1.0, part / age_length(a));
                ages[index(a)] = kept - older + entering;
                entering = older;
                left += ages[index(a)];
            }
            for (double& share : ages) share /= left;
            weight_[index(r)] *= left;
        }
    }
}

void PoolBelief::change() {
    for (int r = 0; r < prior_->size(); ++r) {
        const AgeRow& hazard = prior_->regimes[index(r)].hazard[is_up_ ? 1 : 0];
        double rate = 0;
        if (age_) {
            rate = hazard[index(age_class(*age_))];
        } else {
            for (int a = 0; a < kAges; ++a) rate += ages_[index(r)][index(a)] * hazard[index(a)];
        }
        weight_[index(r)] *= rate;
    }
}

void PoolBelief::drift(double hours) {
    const auto before = weight_;
    for (int r = 0; r < prior_->size(); ++r) {
        for (int q = 0; q < prior_->size(); ++q) {
            const double moved =
                before[index(r)] * std::min(0.5, prior_->regimes[index(r)].to[index(q)] * hours);
            weight_[index(r)] -= moved;
            weight_[index(q)] += moved;
        }
    }
}

void PoolBelief::normalise() {
    double sum = 0;
    for (const double w : weight_) sum += w;
    if (!(sum > 1e-280)) {  // never seen in the fit: back to the prior
        for (int r = 0; r < prior_->size(); ++r) {
            weight_[index(r)] = prior_->regimes[index(r)].share;
        }
        return;
    }
    for (double& w : weight_) w /= sum;
}

}  // namespace trainyard::spot
