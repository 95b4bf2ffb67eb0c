// A lower bound by Lagrangian relaxation. For a price l of an hour of work the cheapest plan is a
// shortest path over moments; with the constraint "all the work" priced in, every l gives a lower
// bound (weak duality), and the best l is found by bisection on whether the plan does enough work.
//
// A plan is a row of stretches. In a stretch the gang has constant nodes from pools that have them
// all the time; it pays from its launch, works from `boot` and the start of the framework later on,
// and may boot while the stretch before still works. Left out, so that the bound only falls:
// restores, saves, failures, single interruptions, refusals, transfers, smallest charges.

#include "trainyard/spot/clairvoyant.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "check_run.hpp"
#include "histogram.hpp"
#include "market.hpp"
#include "world.hpp"

namespace trainyard::spot {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kFreeLife = 3600;
constexpr std::size_t kMostMoments = 2000;
constexpr double kSame = 1e-6;  ///< seconds within which two moments are one

/// Capacity and price integral of one pool: piecewise constant and piecewise linear.
struct Past {
    std::vector<double> start;
    std::vector<int> nodes;
    std::vector<double> price_start;
    std::vector<double> price;
    std::vector<double> paid;  ///< at price_start
    std::vector<double> drops;
    bool spot = false;

    int nodes_at(double t) const {
        const auto it = std::upper_bound(start.begin(), start.end(), t + kSame);
        return it == start.begin() ? 0 : nodes[static_cast<std::size_t>(it - start.begin()) - 1];
    }
    double paid_at(double t) const {
        const auto it = std::upper_bound(price_start.begin(), price_start.end(), t);
        const auto i =
            it == price_start.begin() ? 0 : static_cast<std::size_t>(it - price_start.begin()) - 1;
        return paid[i] + price[i] * (t - price_start[i]);
    }
    bool drops_at(double t) const {
        const auto it = std::lower_bound(drops.begin(), drops.end(), t - kSame);
        return it != drops.end() && *it <= t + kSame;
    }
};

class Foresight {
  public:
    explicit Foresight(const RunSpec& spec)
        : spec_(spec),
          world_(spec),
          pools_(spec.pools.size()),
          boot_((spec.start.boot + spec.start.image).base()),
          idle_(spec.start.framework.base()),
          deadline_(spec.deadline->base()) {
        for (std::size_t i = 0; i < pools_.size(); ++i) {
            const Pool& pool = spec.pools[i];
            pools_[i].spot = pool.purchase == Purchase::spot;
            if (pool.purchase == Purchase::capacity_block)
                prepaid_ += std::min(pool.limit, spec.nodes) * (pool.window * pool.price / kUsd);
        }
    }

    /// Dollars; infinite if the deadline cannot be met; negative: too many moments.
    double bound(std::uint64_t seed, std::uint64_t run) {
        look(seed, run);
        work_ = work_of(spec_, seed, run).base();
        if (moments_.size() > kMostMoments) return -1;
        find_stretches();
        double low = 0;
        double high = 1e3 * (dearest_ + 1e-9);  // per second of work
        if (path(high).work < work_ * (1 - 1e-9)) return kInfinity;
        double best = 0;
        for (int i = 0; i < 50; ++i) {
            const double l = 0.5 * (low + high);
            const Plan plan = path(l);
            best = std::max(best, plan.value + l * work_);
            (plan.work < work_ ? low : high) = l;
        }
        return best + prepaid_ + spec_.other / kUsd;
    }

  private:
    struct Plan {
        double value = 0;  ///< cost less l times work
        double work = 0;
    };
    struct Stretch {
        std::size_t to = 0;
        double cost = 0;
        double work = 0;
    };

    void look(std::uint64_t seed, std::uint64_t run) {
        moments_ = {0, boot_, deadline_};
        dearest_ = 0;
        world_.begin(seed, run, false);
        for (std::size_t i = 0; i < pools_.size(); ++i) watch(i);
        std::sort(moments_.begin(), moments_.end());
        moments_.erase(std::unique(moments_.begin(), moments_.end(),
                                   [](double a, double b) { return b - a < kSame; }),
                       moments_.end());
        while (!moments_.empty() && moments_.back() > deadline_) moments_.pop_back();
    }

    void add_moment(double t) {
        // Rates change at t, and with them the worth of launching then and working `boot` later.
        for (const double at : {t, t + boot_})
            if (at > 0 && at < deadline_) moments_.push_back(at);
    }

    /// Everything that pool i will do until the deadline, with the whole gang there to lose.
    void watch(std::size_t i) {
        Market& market = world_.markets()[i];
        Past& p = pools_[i];
        const bool sunk = spec_.pools[i].purchase == Purchase::capacity_block;
        const auto price = [&] { return sunk ? 0.0 : market.price(); };
        p.start = {0};
        p.nodes = {market.available()};
        p.price_start = p.paid = {0};
        p.price = {price()};
        p.drops.clear();
        dearest_ = std::max(dearest_, spec_.nodes * market.most_price());
        while (market.next() < deadline_) {
            const double now = market.next();
            const MarketEvent event = market.step(spec_.nodes);
            if (event == MarketEvent::drop || event == MarketEvent::rise) {
                p.start.push_back(now);
                p.nodes.push_back(market.available());
                add_moment(now);
                if (event == MarketEvent::drop) {
                    p.drops.push_back(now);
                    // The earliest launch whose life is still free if EC2 ends it here.
                    const double launch = now - kFreeLife;
                    if (launch > 0) moments_.push_back(launch + boot_);
                }
            } else if (event == MarketEvent::price) {
                p.paid.push_back(p.paid_at(now));
                p.price_start.push_back(now);
                p.price.push_back(price());
                add_moment(now);
            }
        }
    }

    void find_stretches() {
        const std::size_t n = moments_.size();
        stretches_.resize(n);
        for (std::size_t j = 0; j < n; ++j) {
            stretches_[j].clear();
            if (moments_[j] < boot_ - kSame) continue;
            stretches_from(j);
        }
    }

    void stretches_from(std::size_t j) {
        const double launch = std::max(0.0, moments_[j] - boot_);
        room_.resize(pools_.size());
        since_.resize(pools_.size());
        for (std::size_t i = 0; i < pools_.size(); ++i) {
            room_[i] = std::min(pools_[i].nodes_at(launch), pools_[i].nodes_at(moments_[j]));
            since_[i] = pools_[i].paid_at(launch);
        }
        for (std::size_t e = j + 1; e < moments_.size(); ++e) {
            const double end = moments_[e];
            const double cost = cheapest_gang(launch, end);
            if (cost == kInfinity) return;
            const double work = std::max(0.0, end - moments_[j] - idle_);
            if (work > 0) stretches_[j].push_back({e, cost, work});
            for (std::size_t i = 0; i < pools_.size(); ++i)
                room_[i] = std::min(room_[i], pools_[i].nodes_at(end));
        }
    }

    /// The cheapest nodes that are there from the launch to the end.
    double cheapest_gang(double launch, double end) {
        offers_.clear();
        for (std::size_t i = 0; i < pools_.size(); ++i) {
            if (room_[i] == 0) continue;
            const Past& p = pools_[i];
            const bool free = p.spot && spec_.rules.first_hour_free &&
                              end - launch <= kFreeLife + kSame && p.drops_at(end);
            offers_.push_back({free ? 0 : p.paid_at(end) - since_[i], room_[i]});
        }
        std::sort(offers_.begin(), offers_.end(),
                  [](const Offer& a, const Offer& b) { return a.usd < b.usd; });
        int missing = spec_.nodes;
        double cost = 0;
        for (const Offer& offer : offers_) {
            const int take = std::min(missing, offer.nodes);
            cost += take * offer.usd;
            missing -= take;
        }
        return missing > 0 ? kInfinity : cost;
    }

    Plan path(double l) {
        const std::size_t n = moments_.size();
        plans_.assign(n, {});
        for (std::size_t j = n - 1; j-- > 0;) {
            plans_[j] = plans_[j + 1];
            for (const Stretch& s : stretches_[j]) {
                const double value = s.cost - l * s.work + plans_[s.to].value;
                if (value < plans_[j].value) plans_[j] = {value, s.work + plans_[s.to].work};
            }
        }
        return plans_[0];
    }

    struct Offer {
        double usd;
        int nodes;
    };
    const RunSpec& spec_;
    World world_;
    std::vector<Past> pools_;
    double boot_, idle_, deadline_;
    double work_ = 0;
    double prepaid_ = 0;
    double dearest_ = 0;
    std::vector<double> moments_;
    std::vector<std::vector<Stretch>> stretches_;
    std::vector<Plan> plans_;
    std::vector<Offer> offers_;
    std::vector<int> room_;
    std::vector<double> since_;
};

Diagnostic refusal(std::string what, std::string why, std::string fix) {
    Diagnostic d;
    d.what = std::move(what);
    d.why = std::move(why);
    d.fix = std::move(fix);
    return d;
}

}  // namespace

Result<Bound> clairvoyant(const RunSpec& spec, const SimulateOptions& options) {
    auto mistakes = check_run(spec, "on_demand", options);
    if (!spec.deadline)
        mistakes.push_back(refusal("the bound needs a deadline",
                                   "who has for ever waits for the best price", "give one"));
    if (spec.min_nodes < spec.nodes)
        mistakes.push_back(refusal("there is no bound for an elastic job",
                                   "plans of many sizes are not searched",
                                   "set the smallest size to the full one"));
    if (!mistakes.empty()) return bad_input(std::move(mistakes));
    Foresight foresight(spec);
    Histogram usd;
    double sum = 0;
    Bound bound;
    std::uint64_t feasible = 0;
    for (std::uint64_t run = 0; run < options.runs; ++run) {
        if (options.stop != nullptr && options.stop->load()) break;
        const double cost = foresight.bound(options.seed, run);
        if (cost < 0)
            return bad_input(refusal(
                fmt::format("run {} has over {} moments to decide at", run, kMostMoments),
                "the bound compares every pair of them", "shorten the job or leave pools out"));
        ++bound.runs;
        if (cost == kInfinity) continue;
        ++feasible;
        sum += cost;
        usd.add(cost);
    }
    if (bound.runs > 0)
        bound.feasible = static_cast<double>(feasible) / static_cast<double>(bound.runs);
    if (feasible > 0)
        bound.usd = {usd.quantile(0.1), usd.quantile(0.5), usd.quantile(0.9),
                     sum / static_cast<double>(feasible)};
    return bound;
}

}  // namespace trainyard::spot
