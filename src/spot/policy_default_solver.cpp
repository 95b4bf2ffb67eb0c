// The dynamic programme behind ValueTable, one layer of time left after the other.

#include "policy_default_solver.hpp"

#include <algorithm>
#include <cmath>

namespace trainyard::spot {
namespace {

constexpr float kNever = 1e5F;  ///< steps of on-demand: what cannot be chosen

}  // namespace

TableSolver::Lean TableSolver::lean(const std::vector<double>& grid, double x) {
    if (x < -1e-9) return {0, 0, true};
    if (x >= grid.back()) return {grid.size() - 2, 1, false};
    const auto next = std::upper_bound(grid.begin(), grid.end(), x);
    const auto i = next == grid.begin() ? 0 : static_cast<std::size_t>(next - grid.begin()) - 1;
    const double share = (std::max(x, grid[i]) - grid[i]) / (grid[i + 1] - grid[i]);
    return {i, static_cast<float>(share), false};
}

TableSolver::TableSolver(const SpotPrior& prior, ValueTable& table)
    : prior_(prior),
      table_(table),
      grid_(table.grid_),
      columns_(table.ages_),
      launch_steps_(std::max(1, static_cast<int>(std::ceil(grid_.restart - 1e-9)))),
      lost_steps_((launch_steps_ + 1) / 2) {
    const double hours = grid_.step / kHour;
    for (const std::size_t state : {std::size_t{0}, std::size_t{1}}) {
        for (const Regime& regime : prior.regimes) {
            for (int a = 0; a < kAges; ++a) {
                const double hazard = regime.hazard[state][static_cast<std::size_t>(a)];
                change_[state].push_back(static_cast<float>(-std::expm1(-hazard * hours)));
            }
        }
    }
    for (int r = 0; r < prior.size(); ++r) {
        for (int a = 0; a < kAges; ++a) {
            older_.push_back(static_cast<float>(std::min(1.0, hours / age_length(a))));
        }
    }
    const std::size_t cells = table.slack_.size() * table.money_.size();
    layers_.resize(static_cast<std::size_t>(launch_steps_) + 1);
    for (Layer& layer : layers_) {
        for (auto& values : layer) values.assign((cells + 1) * columns_, 0.0F);
    }
    for (auto& values : choice_) values.assign((cells + 1) * columns_, 0.0F);
    for (const double m : table.money_) {
        const double ratio = grid_.price_ratio;
        const double spent = launch_steps_ * ratio;
        after_spot_.push_back(lean(table.money_, m + 1 - ratio));
        after_launch_.push_back(lean(table.money_, m - spent + launch_steps_ - grid_.restart));
        after_loss_.push_back(lean(table.money_, m - lost_steps_ * ratio));
        after_leaving_.push_back(lean(table.money_, m - grid_.restart));
        may_launch_.push_back(m >= spent - 1e-9);
    }
    for (const double s : table.slack_) {
        after_idle_.push_back(lean(table.slack_, s - 1));
        after_restart_.push_back(lean(table.slack_, s - grid_.restart));
        after_wait_.push_back(lean(table.slack_, s - lost_steps_));
    }
}

const float* TableSolver::at(const Values& values, std::size_t slack, std::size_t money) const {
    return values.data() + (slack * table_.money_.size() + money) * columns_;
}

/// The value between grid points, for all columns, into `out`.
void TableSolver::between(const Values& values, Lean slack, Lean money, float* out) const {
    if (slack.is_out || money.is_out) {
        std::fill_n(out, columns_, kNever);
        return;
    }
    const float* a = at(values, slack.cell, money.cell);
    const std::size_t money_step = money.share > 0 ? columns_ : 0;
    const std::size_t slack_step = slack.share > 0 ? table_.money_.size() * columns_ : 0;
    const float* b = a + slack_step;
    for (std::size_t i = 0; i < columns_; ++i) {
        const float low = a[i] + money.share * (a[i + money_step] - a[i]);
        const float high = b[i] + money.share * (b[i + money_step] - b[i]);
        out[i] = low + slack.share * (high - low);
    }
}

/// One step: ages advance, and the state changes with its hazard to age class 0 of the other.
void TableSolver::step(const float* same, const float* other, std::size_t state, float cost,
                       float* out) const {
    const float* change = change_[state].data();
    for (std::size_t r = 0; r < columns_; r += kAges) {
        const float changed = other[r];
        for (std::size_t i = r; i < r + kAges; ++i) {
            const std::size_t next = i + 1 < r + kAges ? i + 1 : i;
            const float stays = same[i] + older_[i] * (same[next] - same[i]);
            out[i] = cost + stays + change[i] * (changed - stays);
        }
    }
}

void TableSolver::solve() {
    const int time_end = grid_.most_work + grid_.most_slack;
    for (int time = 1; time <= time_end; ++time) {
        choose(time);
        weigh(time);
        if (time % kLayerStride == 0) store(time);
    }
}

bool TableSolver::is_needed(int time, std::size_t s) const {
    const double upper = s + 1 < table_.slack_.size() ? table_.slack_[s + 1] : table_.slack_[s];
    return time - upper <= grid_.most_work + grid_.restart + 2;
}

/// Cost of each choice at this time left, then what is left of it a step later.
void TableSolver::choose(int time) {
    const Layer& next = layer(time - 1);
    const Layer& landed = layer(std::max(0, time - launch_steps_));
    const Layer& lost = layer(std::max(0, time - lost_steps_));
    const auto ratio = static_cast<float>(grid_.price_ratio);
    std::array<std::vector<float>, 3> row;
    for (auto& r : row) r.resize(columns_);
    for (std::size_t s = 0; s < table_.slack_.size(); ++s) {
        const double slack = table_.slack_[s];
        const bool is_done = slack >= time;
        const bool can_idle = slack - 1 >= grid_.restart;
        const bool can_launch = slack >= 2 * grid_.restart;
        for (std::size_t m = 0; m < table_.money_.size(); ++m) {
            const auto out = [&](Choice c) {
                return choice_[c].data() + (s * table_.money_.size() + m) * columns_;
            };
            if (is_done) {
                for (int c = 0; c < choices; ++c) {
                    std::fill_n(out(static_cast<Choice>(c)), columns_, 0.0F);
                }
                continue;
            }
            const Lean here{m, 0, false};
            const Lean same{s, 0, false};
            const auto never = [&](Choice c) { std::fill_n(out(c), columns_, kNever); };
            if (can_idle) {
                between(next[up_idle], after_idle_[s], here, row[0].data());
                between(next[down_idle], after_idle_[s], here, row[1].data());
                step(row[0].data(), row[1].data(), 1, 0, out(idle_up));
                step(row[1].data(), row[0].data(), 0, 0, out(idle_down));
            } else {
                never(idle_up);
                never(idle_down);
            }
            if (slack >= grid_.restart) {
                between(next[up_spot], same, after_spot_[m], row[0].data());
                between(next[down_idle], same, after_spot_[m], row[1].data());
                step(row[0].data(), row[1].data(), 1, ratio, out(spot_up));
            } else {
                never(spot_up);
            }
            if (slack < grid_.restart + 1) {  // no way back any more
                const auto rest = static_cast<float>(time - slack);
                std::fill_n(out(on_demand_up), columns_, rest);
                std::fill_n(out(on_demand_down), columns_, rest);
            } else {
                const float* up = at(next[up_on_demand], s, m);
                const float* down = at(next[down_on_demand], s, m);
                step(up, down, 1, 1, out(on_demand_up));
                step(down, up, 0, 1, out(on_demand_down));
            }
            if (!can_launch || !may_launch_[m]) {
                never(launch_up);
                continue;
            }
            // Through the restart step by step; a loss in it counts as one half-way.
            between(landed[up_spot], after_restart_[s], after_launch_[m], row[0].data());
            between(lost[down_idle], after_wait_[s], after_loss_[m], row[1].data());
            for (int i = 0; i < launch_steps_; ++i) {
                step(row[0].data(), row[1].data(), 1, ratio, row[2].data());
                row[0].swap(row[2]);
            }
            std::copy_n(row[0].data(), columns_, out(launch_up));
        }
    }
}

/// The best choice from each situation.
void TableSolver::weigh(int time) {
    Layer& now = layer(time);
    std::vector<float> other(columns_);
    for (std::size_t s = 0; s < table_.slack_.size(); ++s) {
        for (std::size_t m = 0; m < table_.money_.size(); ++m) {
            const std::size_t cell = (s * table_.money_.size() + m) * columns_;
            const auto lower = [&](float* value, const float* offer) {
                for (std::size_t i = 0; i < columns_; ++i) value[i] = std::min(value[i], offer[i]);
            };
            const auto keep = [&](Situation situation, Choice choice) {
                float* value = now[situation].data() + cell;
                std::copy_n(choice_[choice].data() + cell, columns_, value);
                return value;
            };
            const Lean here{m, 0, false};
            const Lean same{s, 0, false};
            keep(up_spot, spot_up);
            float* value = keep(up_idle, idle_up);
            lower(value, choice_[launch_up].data() + cell);
            between(choice_[on_demand_up], after_restart_[s], here, other.data());
            lower(value, other.data());
            value = keep(down_idle, idle_down);
            between(choice_[on_demand_down], after_restart_[s], here, other.data());
            lower(value, other.data());
            value = keep(up_on_demand, on_demand_up);
            between(choice_[launch_up], same, after_leaving_[m], other.data());
            lower(value, other.data());
            between(choice_[idle_up], same, after_leaving_[m], other.data());
            lower(value, other.data());
            value = keep(down_on_demand, on_demand_down);
            between(choice_[idle_down], same, after_leaving_[m], other.data());
            lower(value, other.data());
            drift(now, cell);
        }
    }
}

/// Regimes change between this layer and the one before it.
void TableSolver::drift(Layer& now, std::size_t cell) const {
    const auto hours = static_cast<float>(grid_.step / kHour);
    std::array<float, kMostRegimes> before{};
    for (auto& values : now) {
        float* value = values.data() + cell;
        for (std::size_t a = 0; a < kAges; ++a) {
            for (std::size_t r = 0; r < prior_.regimes.size(); ++r)
                before[r] = value[r * kAges + a];
            for (std::size_t r = 0; r < prior_.regimes.size(); ++r) {
                for (std::size_t q = 0; q < prior_.regimes.size(); ++q) {
                    value[r * kAges + a] += static_cast<float>(prior_.regimes[r].to[q]) * hours *
                                            (before[q] - before[r]);
                }
            }
        }
    }
}

void TableSolver::store(int time) {
    std::array<std::vector<float>, 3> other;
    for (auto& o : other) o.resize(columns_);
    const std::size_t cells = table_.slack_.size() * table_.money_.size();
    const auto base = static_cast<std::size_t>(time / kLayerStride) * cells;
    const auto put = [&](std::size_t cell, int group, const float* choice, const float* anchor) {
        float* out = table_.stored_.data() +
                     ((base + cell) * kGroups + static_cast<std::size_t>(group)) * columns_;
        for (std::size_t i = 0; i < columns_; ++i) out[i] = choice[i] - anchor[i];
    };
    for (std::size_t s = 0; s < table_.slack_.size(); ++s) {
        if (!is_needed(time, s)) continue;
        for (std::size_t m = 0; m < table_.money_.size(); ++m) {
            const std::size_t cell = s * table_.money_.size() + m;
            const auto of = [&](Choice c) { return choice_[c].data() + cell * columns_; };
            const Lean here{m, 0, false};
            const Lean same{s, 0, false};
            between(choice_[on_demand_up], after_restart_[s], here, other[0].data());
            put(cell, 0, of(launch_up), other[0].data());
            put(cell, 1, of(idle_up), other[0].data());
            between(choice_[on_demand_down], after_restart_[s], here, other[0].data());
            put(cell, 2, of(idle_down), other[0].data());
            between(choice_[launch_up], same, after_leaving_[m], other[0].data());
            between(choice_[idle_up], same, after_leaving_[m], other[1].data());
            between(choice_[idle_down], same, after_leaving_[m], other[2].data());
            put(cell, 3, other[0].data(), of(on_demand_up));
            put(cell, 4, other[1].data(), of(on_demand_up));
            put(cell, 5, other[2].data(), of(on_demand_down));
        }
    }
}

}  // namespace trainyard::spot
