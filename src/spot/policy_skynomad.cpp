// SkyNomad (Li et al., NSDI 2027, arXiv 2601.06520), with the rules of the published artifact
// (github.com/andylizf/skynomad-artifact, sky_spot/strategies/unified_cost_model*.py).
//
// Every way to hold the gang has a net value per hour: an hour of progress is worth V, a zone with
// expected life L and restart d makes (L - d)/L of it, and costs its price and the transfer of the
// checkpoint per life. V is the log-barrier form of the paper: the on-demand price times the rate
// of work needed from now on over the rate planned at the start, and at least the cheapest spot
// price. A change must be worth more than a margin; when no slack is left, the safety net decides.
// Parameters are the artifact's defaults; lives are predicted without a ceiling and zones that are
// not used are watched, as in its AWS experiment (configs/v100.py).
//
// Different here: zones are seen at all times instead of probed, so probes cost nothing; the term
// of 0.0002 $ per GB of checkpoint in the margin is left out, since a policy does not know the
// size.

#include <algorithm>
#include <cmath>
#include <limits>

#include "trainyard/spot/policy.hpp"
#include "uniform_progress.hpp"
#include "zone_history.hpp"

namespace trainyard::spot {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kBaseMargin = 0.5;  ///< dollars per hour
constexpr double kShareMargin = 0.05;
const Seconds kEvery = 600 * kSecond;

class SkyNomad final : public Policy {
  public:
    void begin(const View& first) override {
        zones_.resize(first.pools.size());
        for (ZoneHistory& zone : zones_) zone.begin();
    }

    void decide(const View& view, Decision& decision) override {
        look(view);
        const Moment moment = moment_of(view);
        decision.ask_again = std::min(view.now + kEvery, next_question(moment, false));
        if (const auto held = safety_net(moment)) return hold(view, *held, decision);
        // A move and a restart on demand after it must still fit.
        if (no_slack(moment, 2)) {
            const bool spot = moment.held == Hold::spot;
            return hold(view, spot ? Hold::spot : Hold::on_demand, decision);
        }
        choose(view, decision);
    }

  private:
    void look(const View& view) {
        const double now = view.now / kHour;
        for (std::size_t i = 0; i < zones_.size(); ++i) {
            const PoolView& pool = view.pools[i];
            if (pool.purchase != Purchase::spot) continue;
            zones_[i].see(now, pool.available >= view.nodes, pool.since / kHour);
        }
    }

    double life(std::size_t zone, double left) const {
        return std::min(zones_[zone].expected_life(), left);
    }

    /// Dollars that an hour of progress is worth: more when behind the plan, less when ahead of it.
    static double value_of(const View& view, double on_demand, double cheapest_spot) {
        const double needed = (view.work - view.done) / view.work;
        const double planned =
            std::isfinite(view.deadline.base()) ? 1 - view.now / view.deadline : 1;
        const double value = planned > 0 ? on_demand * needed / planned : kInfinity;
        return std::max(value, cheapest_spot);
    }

    void choose(const View& view, Decision& decision) {
        double firm = kInfinity;
        double spot = kInfinity;
        std::size_t current = zones_.size();
        for (std::size_t i = 0; i < zones_.size(); ++i) {
            const PoolView& pool = view.pools[i];
            double& cheapest = pool.purchase == Purchase::spot ? spot : firm;
            cheapest = std::min(cheapest, view.nodes * pool.usd_per_hour);
            if (pool.held >= view.nodes && pool.available >= view.nodes) current = i;
        }
        // Without capacity of another kind the job must take spot: any price is below its worth.
        const double value =
            std::isfinite(firm) ? value_of(view, firm, std::min(spot, firm)) : 10 * spot;
        const double margin = kBaseMargin + kShareMargin * value;
        const double standing = current < zones_.size() ? net(view, current, value, true) : 0;
        std::size_t best = current;
        double best_net = current < zones_.size() ? standing + margin : 0;
        for (std::size_t i = 0; i < zones_.size(); ++i) {
            if (i == current || view.pools[i].available < view.nodes) continue;
            const double here = net(view, i, value, false);
            if (here <= best_net || here < 0) continue;
            best = i;
            best_net = here;
        }
        if (best < zones_.size()) decision.nodes[best] = view.nodes;
    }

    double net(const View& view, std::size_t i, double value, bool held) const {
        const PoolView& pool = view.pools[i];
        const double usd = view.nodes * pool.usd_per_hour;
        const double restart = view.restart / kHour;
        const bool moves = !held && pool.usd_per_move > 0;
        if (pool.purchase != Purchase::spot)
            return value - usd - (moves ? restart * value + pool.usd_per_move : 0);
        const double l = life(i, (view.deadline - view.now) / kHour);
        if (!held && l <= restart) return -kInfinity;
        const double useful = held ? 1 : (l - restart) / l;
        return value * useful - usd - (moves ? pool.usd_per_move / l : 0);
    }

    std::vector<ZoneHistory> zones_;
};

std::unique_ptr<Policy> make(std::string_view argument) {
    return argument.empty() ? std::make_unique<SkyNomad>() : nullptr;
}

}  // namespace

PolicyInfo skynomad_policy();
PolicyInfo skynomad_policy() {
    return {"skynomad", "weighs every zone by price, expected life, transfer and the deadline",
            "Li et al., SkyNomad, NSDI 2027, arXiv 2601.06520", make};
}

}  // namespace trainyard::spot
