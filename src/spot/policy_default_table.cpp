#include "policy_default_table.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <list>
#include <mutex>

#include "policy_default_solver.hpp"

namespace trainyard::spot {
namespace {

constexpr std::size_t kTablesKept = 12;

/// Next of a few kSizes, so that similar jobs share a table.
int round_size(double steps) {
    constexpr std::array kSizes = {32, 64, 96, 128, 192, 256, 384, 512, 768, 1024};
    for (const int size : kSizes) {
        if (steps <= size) return size;
    }
    return kSizes.back();
}

}  // namespace

Grid grid_for(Seconds work, Seconds slack, Seconds restart, Seconds tick, double price_ratio) {
    Grid grid;
    const double parts = slack > 64 * restart ? 2 : 4;
    const Seconds part = restart / parts;
    grid.step = std::max({part >= tick / 2 ? part : tick, 60 * kSecond});
    grid.restart = restart / grid.step;
    grid.price_ratio =
        std::clamp(std::round(price_ratio / kRatioStep) * kRatioStep, kRatioStep, 1 - kRatioStep);
    grid.most_work = round_size(work / grid.step);
    grid.most_slack = round_size(std::max(slack, 0 * kSecond) / grid.step);
    return grid;
}

ValueTable::ValueTable(const SpotPrior& prior, const Grid& grid)
    : grid_(grid), ages_(prior.regimes.size() * kAges) {
    // every step where a restart more or less decides, then 8 % apart
    double width = 1;
    for (double s = 0; s < grid.most_slack + width; s += width) {
        slack_.push_back(s);
        if (s > 3 * grid.restart + 4) width *= 1.08;
    }
    // in restarts: a failed launch costs price_ratio of one, leaving on-demand one more
    const double unit = std::max(grid.restart, 1.0);
    for (const double m : {0.0, 0.35, 0.7, 1.05, 1.4, 1.75, 2.1, 2.5, 3.0, 4.0, 6.0, 10.0}) {
        money_.push_back(m * unit);
    }
    // A launch that fails costs this: with less nobody may try.
    const double launch = std::max(1.0, std::ceil(grid.restart - 1e-9)) * grid.price_ratio;
    const auto at = std::lower_bound(money_.begin(), money_.end(), launch);
    if (at != money_.end() && *at - launch > 1e-9) money_.insert(at, launch);
    layers_ = (grid.most_work + grid.most_slack) / kLayerStride + 1;
    stored_.assign(
        static_cast<std::size_t>(layers_) * slack_.size() * money_.size() * kGroups * ages_, 0);
    TableSolver(prior, *this).solve();
}

ValueTable::Place ValueTable::place(double work, double slack, double money) const {
    if (work > grid_.most_work) {
        slack *= grid_.most_work / work;
        work = grid_.most_work;
    }
    slack = std::clamp(slack, 0.0, static_cast<double>(grid_.most_slack));
    const int layer =
        std::clamp(static_cast<int>(std::lround((work + slack) / kLayerStride)), 1, layers_ - 1);
    const auto lower = [](const std::vector<double>& grid, double x) {
        const auto next = std::upper_bound(grid.begin() + 1, grid.end() - 1, x);
        return static_cast<std::size_t>(next - grid.begin()) - 1;
    };
    money = std::clamp(money, 0.0, money_.back());
    const std::size_t s = lower(slack_, slack);
    const std::size_t m = lower(money_, money);
    double money_share = (money - money_[m]) / (money_[m + 1] - money_[m]);
    // Between a point with the money for a launch and one without nothing is half-way.
    const double launch = std::max(1.0, std::ceil(grid_.restart - 1e-9)) * grid_.price_ratio;
    if (money < launch - 1e-9 && money_[m + 1] >= launch - 1e-9) money_share = 0;
    return {(static_cast<std::size_t>(layer) * slack_.size() + s) * money_.size() + m,
            (slack - slack_[s]) / (slack_[s + 1] - slack_[s]), money_share};
}

double ValueTable::read(const Place& place, std::size_t column) const {
    const std::size_t width = kGroups * ages_;
    const float* low = stored_.data() + place.cell * width + column;
    const float* high = low + money_.size() * width;
    const double a = low[0] + place.money * (low[width] - low[0]);
    const double b = high[0] + place.money * (high[width] - high[0]);
    return a + place.slack * (b - a);
}

Gain ValueTable::gain(const Place& place, bool is_on_demand, bool is_up, int regime,
                      int age) const {
    const std::size_t column =
        static_cast<std::size_t>(regime) * kAges + static_cast<std::size_t>(age);
    const std::size_t first = is_on_demand ? 3 : 0;
    if (!is_up) return {0, read(place, (first + 2) * ages_ + column)};
    return {read(place, first * ages_ + column), read(place, (first + 1) * ages_ + column)};
}

std::shared_ptr<const ValueTable> value_table(const SpotPrior& prior, const Grid& grid) {
    struct Entry {
        SpotPrior prior;
        std::shared_ptr<const ValueTable> table;
    };
    static std::mutex mutex;
    static std::list<Entry> kept;  // last used first
    const std::lock_guard lock(mutex);
    for (auto entry = kept.begin(); entry != kept.end(); ++entry) {
        if (!(entry->prior == prior) || !(entry->table->grid() == grid)) continue;
        kept.splice(kept.begin(), kept, entry);
        return kept.front().table;
    }
    kept.push_front({prior, std::make_shared<const ValueTable>(prior, grid)});
    if (kept.size() > kTablesKept) kept.pop_back();
    return kept.front().table;
}

}  // namespace trainyard::spot
