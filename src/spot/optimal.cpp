// Branch and bound over runs. A Lagrange multiplier on the work gives the bound: for any price of
// work from that of spot upward, the least of cost - price * (work done - work) over all choices,
// however much work they do, is a recursion over runs and never above the optimum. Below the price
// of on-demand work the ticks on demand count as if they cost just what their work is worth: they
// are the first to be given back.

#include "optimal.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace trainyard::spot {
namespace {

constexpr double kEpsilon = 1e-9;  // US dollars; two optima that differ by less are the same
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr int kHolds = 3;

std::size_t index(Hold h) { return static_cast<std::size_t>(h); }

struct Totals {
    int spot = 0;
    int on_demand = 0;
    int stints = 0;

    void add(const SpotRun& run, Hold before, Hold now) {
        if (now == Hold::none) return;
        (now == Hold::spot ? spot : on_demand) += run.ticks;
        stints += now == Hold::spot || now != before ? 1 : 0;
    }
};

/// Costs to go of one multiplier, by run and by what was held before it.
using ToGo = std::vector<std::array<double, kHolds>>;

class Search {
  public:
    explicit Search(const OptimalProblem& problem) : p_(problem) {}
    std::vector<Hold> run();

  private:
    struct Label {
        Totals totals;
        Micros work = 0;
        double cost = 0;  ///< nothing given back
        int parent = -1;
        Hold held = Hold::none;
    };

    Micros work_of(const Totals& t) const {
        return Micros{t.spot + t.on_demand} * p_.tick - t.stints * p_.restart;
    }
    double cost_of(const Totals& t) const {
        return t.spot * p_.spot_per_tick + t.on_demand * p_.on_demand_per_tick;
    }
    /// With the surplus given back, the dearest ticks first; infinite if the work is not done.
    double final_cost(const Totals& t) const;
    /// The least reduced cost of all ways, and one of them; adds its costs to go to bounds_. An
    /// infinite price: the most work, whatever it costs.
    Totals relax(double work_price);
    void find_bounds();
    bool is_hopeless(const Label& label, std::size_t next_run) const;
    void extend(const Label& label, int parent, std::size_t run, std::vector<Label>& to) const;
    bool dominates(const Label& a, const Label& b) const;
    void drop_dominated(std::vector<Label>& labels) const;
    std::vector<Hold> way_to(int label) const;

    /// Reduced prices, US dollars: per tick, and of a launch.
    struct Bound {
        double spot = 0;
        double on_demand = 0;
        double launch = 0;
        double work = 0;       ///< worth of all the work
        bool is_work = false;  ///< counts microseconds of work in place of dollars
        ToGo to_go;
        double of(const Totals& t) const {
            return t.spot * spot + t.on_demand * on_demand + t.stints * launch;
        }
    };
    Bound prices_at(double work_price) const;

    const OptimalProblem& p_;
    double best_ = kInfinity;  ///< cost of the best way known
    std::vector<Hold> best_way_;
    std::vector<Bound> bounds_;
    std::vector<Label> kept_;  ///< parents of all labels
};

double Search::final_cost(const Totals& t) const {
    const Micros surplus = work_of(t) - p_.work;
    if (surplus < 0) return kInfinity;
    const auto back = static_cast<int>(surplus / p_.tick);
    const int on_demand = std::min(back, t.on_demand);
    return (t.on_demand - on_demand) * p_.on_demand_per_tick +
           std::max(0, t.spot - (back - on_demand)) * p_.spot_per_tick;
}

Search::Bound Search::prices_at(double work_price) const {
    const auto tick = static_cast<double>(p_.tick);
    const auto restart = static_cast<double>(p_.restart);
    const auto work = static_cast<double>(p_.work);
    Bound b;
    if (std::isinf(work_price)) {
        b.spot = b.on_demand = -tick;
        b.launch = restart;
        b.work = work;
        b.is_work = true;
        return b;
    }
    b.spot = p_.spot_per_tick - work_price * tick;
    b.on_demand = std::min(0.0, p_.on_demand_per_tick - work_price * tick);
    b.launch = work_price * restart;
    b.work = work_price * work;
    return b;
}

Totals Search::relax(double work_price) {
    const std::size_t n = p_.runs.size();
    Bound bound = prices_at(work_price);
    bound.to_go.assign(n + 1, {0, 0, 0});
    std::vector<std::array<Hold, kHolds>> choice(n + 1);
    for (std::size_t r = n; r-- > 0;) {
        const SpotRun& run = p_.runs[r];
        const auto& after = bound.to_go[r + 1];
        const double spot = run.is_available
                                ? bound.launch + run.ticks * bound.spot + after[index(Hold::spot)]
                                : kInfinity;
        const double stay = run.ticks * bound.on_demand + after[index(Hold::on_demand)];
        for (const Hold before : {Hold::none, Hold::spot, Hold::on_demand}) {
            const double on_demand = stay + (before == Hold::on_demand ? 0 : bound.launch);
            double& value = bound.to_go[r][index(before)];
            Hold& hold = choice[r][index(before)];
            value = after[index(Hold::none)];
            hold = Hold::none;
            if (on_demand < value) {
                value = on_demand;
                hold = Hold::on_demand;
            }
            if (spot < value) {
                value = spot;
                hold = Hold::spot;
            }
        }
    }
    Totals totals;
    std::vector<Hold> way;
    Hold before = Hold::none;
    for (std::size_t r = 0; r < n; ++r) {
        way.push_back(choice[r][index(before)]);
        totals.add(p_.runs[r], before, way.back());
        before = way.back();
    }
    bounds_.push_back(std::move(bound));
    if (final_cost(totals) < best_) {
        best_ = final_cost(totals);
        best_way_ = std::move(way);
    }
    return totals;
}

void Search::find_bounds() {
    Totals rich = relax(kInfinity);
    if (work_of(rich) < p_.work) return;
    Totals poor = relax(p_.on_demand_per_tick / static_cast<double>(p_.tick));
    if (work_of(poor) >= p_.work) {
        rich = poor;
        poor = {};
    }
    // Where the lines of the best poor and the best rich way cross, until no better way lies there.
    constexpr int kMaxSteps = 30;
    for (int i = 0; i < kMaxSteps && work_of(rich) > work_of(poor); ++i) {
        const double price =
            (cost_of(rich) - cost_of(poor)) / static_cast<double>(work_of(rich) - work_of(poor));
        const Totals middle = relax(price);
        Totals& same = work_of(middle) >= p_.work ? rich : poor;
        if (work_of(middle) == work_of(same)) break;
        same = middle;
    }
}

bool Search::is_hopeless(const Label& label, std::size_t next_run) const {
    return std::any_of(bounds_.rbegin(), bounds_.rend(), [&](const Bound& b) {
        const double least = b.work + b.of(label.totals) + b.to_go[next_run][index(label.held)];
        return least > (b.is_work ? 0.5 : best_ - kEpsilon);
    });
}

void Search::extend(const Label& label, int parent, std::size_t run, std::vector<Label>& to) const {
    for (const Hold now : {Hold::spot, Hold::on_demand, Hold::none}) {
        if (now == Hold::spot && !p_.runs[run].is_available) continue;
        Label next = label;
        next.totals.add(p_.runs[run], label.held, now);
        next.work = work_of(next.totals);
        next.cost = cost_of(next.totals);
        next.held = now;
        next.parent = parent;
        if (!is_hopeless(next, run + 1)) to.push_back(next);
    }
}

bool Search::dominates(const Label& a, const Label& b) const {
    // Given that a does no less work: as much for no more money, with as much to give back from the
    // dear end; or more spot and no less in all, in no more stints.
    const Totals& x = a.totals;
    const Totals& y = b.totals;
    return (a.cost <= b.cost && x.on_demand >= y.on_demand) ||
           (x.spot >= y.spot && x.spot + x.on_demand >= y.spot + y.on_demand &&
            (x.stints <= y.stints || p_.restart == 0));
}

void Search::drop_dominated(std::vector<Label>& labels) const {
    std::sort(labels.begin(), labels.end(), [](const Label& a, const Label& b) {
        if (a.held != b.held) return a.held < b.held;
        if (a.work != b.work) return a.work > b.work;
        if (a.cost != b.cost) return a.cost < b.cost;
        return a.totals.stints < b.totals.stints;
    });
    std::vector<Label> front;
    for (const Label& label : labels) {
        const bool is_dominated = std::any_of(front.rbegin(), front.rend(), [&](const Label& f) {
            return f.held == label.held && dominates(f, label);
        });
        if (!is_dominated) front.push_back(label);
    }
    labels = std::move(front);
}

std::vector<Hold> Search::way_to(int label) const {
    std::vector<Hold> way;
    for (int i = label; kept_[static_cast<std::size_t>(i)].parent >= 0;
         i = kept_[static_cast<std::size_t>(i)].parent) {
        way.push_back(kept_[static_cast<std::size_t>(i)].held);
    }
    std::reverse(way.begin(), way.end());
    return way;
}

std::vector<Hold> Search::run() {
    find_bounds();
    kept_.push_back({});
    std::size_t first = 0;
    std::vector<Label> next;
    for (std::size_t r = 0; r < p_.runs.size(); ++r) {
        next.clear();
        const std::size_t end = kept_.size();
        for (std::size_t i = first; i < end; ++i) {
            extend(kept_[i], static_cast<int>(i), r, next);
        }
        drop_dominated(next);
        first = end;
        kept_.insert(kept_.end(), next.begin(), next.end());
    }
    for (std::size_t i = first; i < kept_.size(); ++i) {
        const double cost = final_cost(kept_[i].totals);
        if (cost >= best_) continue;
        best_ = cost;
        best_way_ = way_to(static_cast<int>(i));
    }
    return best_way_;
}

}  // namespace

std::vector<Hold> optimal_choices(const OptimalProblem& problem) { return Search(problem).run(); }

}  // namespace trainyard::spot
