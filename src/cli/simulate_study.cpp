#include "simulate_study.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "simulate_words.hpp"
#include "trainyard/base/contract.hpp"
#include "trainyard/spot/fit.hpp"

namespace trainyard::cli {

namespace {

using spot::RunSpec;
using spot::Summary;

const char* const kCadences[] = {"fixed:5m", "young", "daly", "best", "age"};
constexpr int kCurvePoints = 13;
constexpr std::size_t kMostLuck = 5;
/// Policies within this factor of the cheapest are tried with scarce spot, so many at most.
constexpr double kSameCost = 1.10;
constexpr std::size_t kStressed = 4;
/// Of the search for a run near the median.
constexpr std::uint64_t kSampleTries = 200;
constexpr std::uint64_t kBoundRuns = 200;

/// Plays one thing after the other and reports one share for all.
class Player {
  public:
    Player(const SimulateRequest& request, const StudyHooks& hooks, std::size_t parts)
        : hooks_(hooks), parts_(static_cast<double>(parts)) {
        options_.runs = request.runs;
        options_.seed = request.seed;
        options_.threads = request.threads;
        options_.stop = hooks.stop;
        if (hooks.progress) {
            options_.progress = [this](double share) {
                hooks_.progress(std::min(1.0, (done_ + share) / parts_));
            };
        }
    }
    Result<Summary> play(const RunSpec& spec, const std::string& policy) {
        auto summary = spot::simulate(spec, policy, options_);
        done_ += 1;
        return summary;
    }
    bool stopped() const { return hooks_.stop != nullptr && hooks_.stop->load(); }

  private:
    const StudyHooks& hooks_;
    double parts_;
    double done_ = 0;
    spot::SimulateOptions options_;
};

bool has(const RunSpec& spec, spot::Purchase purchase) {
    return std::any_of(spec.pools.begin(), spec.pools.end(),
                       [&](const spot::Pool& p) { return p.purchase == purchase; });
}

struct Change {
    std::string id;
    std::string text;
    RunSpec spec;
};

Change change(const RunSpec& spec, std::string id, std::string text) {
    return {std::move(id), std::move(text), spec};
}

/// One rule of AWS off at a time; rules that are off already, or cannot matter, are left out.
std::vector<Change> rule_changes(const RunSpec& spec) {
    const bool spot = has(spec, spot::Purchase::spot);
    std::vector<Change> all;
    if (spot && spec.rules.first_hour_free) {
        all.push_back(change(spec, "first_hour_free", "an interrupted first hour is billed"));
        all.back().spec.rules.first_hour_free = false;
    }
    if (spec.rules.per_second) {
        all.push_back(change(spec, "per_second", "whole hours are billed, not seconds"));
        all.back().spec.rules.per_second = false;
    }
    if (spot && spec.rules.notice > Seconds{}) {
        all.push_back(change(spec, "notice", "no two-minute notice"));
        all.back().spec.rules.notice = Seconds{};
    }
    if (spot && spec.rules.rebalance) {
        all.push_back(change(spec, "rebalance", "no rebalance recommendations"));
        all.back().spec.rules.rebalance = false;
    }
    if (has(spec, spot::Purchase::capacity_block) && spec.rules.block_ends_early > Seconds{}) {
        all.push_back(change(spec, "block_ends_early", "Capacity Blocks run to their last minute"));
        all.back().spec.rules.block_ends_early = Seconds{};
    }
    if (spec.rules.on_demand_refused > 0) {
        all.push_back(change(spec, "on_demand_refused", "on-demand capacity is always there"));
        all.back().spec.rules.on_demand_refused = 0;
    }
    return all;
}

/// How often capacity is there.
double availability(const spot::PoolProcess& p) {
    return p.up.mean() / (p.up.mean() + p.down.mean());
}

/// Of the processes fitted to published traces, for gangs or for single nodes, the one in the
/// middle by availability.
const spot::PoolProcess& median_trace(int nodes) {
    std::vector<const spot::PoolProcess*> all;
    for (const spot::PoolProcess& p : spot::embedded_processes()) {
        if ((p.gang > 1) == (nodes > 1)) all.push_back(&p);
    }
    TRAINYARD_ASSERT(!all.empty(), "processes of both kinds are built in");
    const auto middle = all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2);
    std::nth_element(all.begin(), middle, all.end(), [](const auto* a, const auto* b) {
        return availability(*a) < availability(*b);
    });
    return **middle;
}

/// The same run where spot comes and goes as on the median published trace, at the run's price.
Change on_traces(const RunSpec& spec) {
    const spot::PoolProcess& fitted = median_trace(spec.nodes);
    Change out = change(spec, "median_trace",
                        fmt::format("spot is as scarce as on the median published trace ({}, there "
                                    "{} of the time)",
                                    fitted.name, share_words(availability(fitted))));
    for (spot::Pool& p : out.spec.pools) {
        if (!p.process) continue;
        const spot::PriceProcess price = p.process->price;
        p.process = fitted;
        p.process->price = price;
    }
    return out;
}

bool has_process(const RunSpec& spec) {
    return std::any_of(spec.pools.begin(), spec.pools.end(),
                       [](const spot::Pool& p) { return p.process.has_value(); });
}

/// What the assumed spot process may have wrong, and what else may go worse than planned.
std::vector<Change> luck_changes(const RunSpec& spec, const Summary& main) {
    std::vector<Change> all;
    if (has_process(spec) && main.mean_money.spot > Usd{}) {
        const auto scaled = [&](const char* id, const char* words, double up, double down) {
            all.push_back(change(spec, id, words));
            for (spot::Pool& p : all.back().spec.pools) {
                if (!p.process) continue;
                p.process->up.scale *= up;
                p.process->single_per_hour /= up;
                p.process->down.scale *= down;
            }
        };
        scaled("interruptions_twice", "interruptions come twice as often", 0.5, 1);
        scaled("waits_twice", "capacity stays away twice as long", 1, 2);
        all.push_back(on_traces(spec));
    }
    if (spec.failures_per_node_hour > 0) {
        all.push_back(change(spec, "failures_twice", "hardware fails twice as often"));
        all.back().spec.failures_per_node_hour *= 2;
    }
    if (main.on_demand_share > 0 && spec.rules.on_demand_refused <= 0) {
        all.push_back(
            change(spec, "on_demand_refused", "half of the on-demand launches find no capacity"));
        all.back().spec.rules.on_demand_refused = 0.5;
    }
    return all;
}

std::optional<Error> play_changes(const std::vector<Change>& changes, const std::string& policy,
                                  Player& player, std::vector<Variant>& out) {
    for (const Change& c : changes) {
        if (player.stopped()) return std::nullopt;
        auto summary = player.play(c.spec, policy);
        if (!summary) return summary.error();
        if (summary->partial) return std::nullopt;
        out.push_back({c.id, c.text, std::move(*summary)});
    }
    return std::nullopt;
}

/// Whether a policy with the very same runs has a row already; notes it.
bool is_repeated(const Summary& s, Study& study) {
    const auto same = std::find_if(study.policies.begin(), study.policies.end(),
                                   [&](const Summary& known) { return known.unseed == s.unseed; });
    if (same == study.policies.end()) return false;
    study.policies_same.emplace_back(s.policy, same->policy);
    return true;
}

void rank_policies(Study& study) {
    const auto better = [](const Summary& a, const Summary& b) {
        if (is_sure(a) != is_sure(b)) return is_sure(a);
        return a.usd.mean < b.usd.mean;
    };
    std::stable_sort(study.policies.begin(), study.policies.end(), better);
    // The policy of the verdict stays, whatever its rank.
    while (study.policies.size() > kMostRows) {
        auto last = study.policies.end() - 1;
        if (last->policy == study.main.policy) --last;
        study.policies.erase(last);
        ++study.policies_left_out;
    }
}

double worst_share(const Summary& s) {
    return std::min({s.finished, s.meets_deadline, s.meets_budget});
}

/// Of the policies that cost the same as the cheapest, the one that is done first comes to the
/// front if it is clearly faster.
void prefer_fast(Study& study) {
    constexpr double kSame = 1.02;
    constexpr double kFaster = 0.95;
    const Summary& first = study.policies.front();
    auto best = study.policies.begin();
    for (auto s = best + 1; s != study.policies.end(); ++s) {
        const bool same = s->usd.mean <= kSame * first.usd.mean && is_sure(*s) == is_sure(first);
        if (same && s->hours.mean < kFaster * best->hours.mean) best = s;
    }
    std::rotate(study.policies.begin(), best, best + 1);
}

/// Of the policies that cost little more than the cheapest safe one, the one that keeps the limits
/// best where spot is scarce comes to the front.
void stress_best(const SimulateRequest& r, Player& player, Study& study) {
    const double most = kSameCost * study.policies.front().usd.mean;
    std::size_t chosen = 0;
    std::optional<Variant> stressed;
    for (std::size_t i = 0; i < std::min(kStressed, study.policies.size()); ++i) {
        const Summary& s = study.policies[i];
        if (s.usd.mean > most || s.mean_money.spot <= Usd{} || player.stopped()) break;
        if (is_sure(s) != is_sure(study.policies.front())) break;
        const RunSpec spec = spec_for(r, s.policy);
        if (!has_process(spec)) return;
        const Change scarce = on_traces(spec);
        auto summary = player.play(scarce.spec, s.policy);
        if (!summary || summary->partial) return;
        const double gain = stressed ? worst_share(*summary) - worst_share(stressed->summary) : 1.0;
        if (gain < 0 || (gain <= 0 && summary->usd.mean >= stressed->summary.usd.mean)) continue;
        chosen = i;
        stressed = Variant{scarce.id, scarce.text, std::move(*summary)};
    }
    if (!stressed) return;
    const auto first = study.policies.begin();
    const auto at = first + static_cast<std::ptrdiff_t>(chosen);
    std::rotate(first, at, at + 1);
    if (first->policy != study.main.policy) study.best_on_traces = std::move(stressed);
}

void play_policies(const SimulateRequest& r, Player& player, Study& study) {
    study.policies = {study.main};
    for (std::size_t i = 1; i < r.policies.size() && !player.stopped(); ++i) {
        const std::string& name = r.policies[i];
        auto summary = player.play(spec_for(r, name), name);
        if (!summary) {
            study.policies_refused.push_back(name + ": " + first_words(summary.error()));
        } else if (!summary->partial && !is_repeated(*summary, study)) {
            study.policies.push_back(std::move(*summary));
        }
    }
    rank_policies(study);
    prefer_fast(study);
    stress_best(r, player, study);
}

/// The first runs are enough: the bound is for comparison, and slow.
void play_bound(const SimulateRequest& r, const StudyHooks& hooks, Study& study) {
    const RunSpec spec = spec_for(r, "default");
    if (!spec.deadline || spec.min_nodes < spec.nodes || !has(spec, spot::Purchase::spot)) return;
    spot::SimulateOptions options;
    options.runs = std::min<std::uint64_t>(r.runs, kBoundRuns);
    options.seed = r.seed;
    options.stop = hooks.stop;
    const auto bound = spot::clairvoyant(spec, options);
    if (bound && bound->runs == options.runs && bound->feasible > 0) study.bound = *bound;
}

void play_cadences(const SimulateRequest& r, Player& player, Study& study) {
    const std::string own = cadence_of(r.input.run.spec.checkpoints).name;
    std::vector<std::string> names(std::begin(kCadences), std::end(kCadences));
    if (std::find(names.begin(), names.end(), own) == names.end()) names.insert(names.begin(), own);
    for (const std::string& name : names) {
        if (player.stopped()) return;
        if (name == own) {
            study.cadences.push_back({name, study.main, {}});
            continue;
        }
        RunSpec spec = r.input.run.spec;
        const auto choice = parse_cadence(name);
        spec.checkpoints.cadence = choice->cadence;
        spec.checkpoints.interval = choice->interval;
        auto summary = player.play(spec, r.policies.front());
        if (summary && summary->partial) return;
        if (summary) {
            study.cadences.push_back({name, std::move(*summary), {}});
        } else {
            study.cadences.push_back({name, std::nullopt, first_words(summary.error())});
        }
    }
}

/// Fixed intervals from the length of a save to a quarter of the work, evenly in the logarithm.
void play_curve(const SimulateRequest& r, Player& player, Study& study) {
    const RunSpec& run = r.input.run.spec;
    const Seconds low = std::max(1.0 * kMinute, 1.2 * run.checkpoints.blocking);
    const Seconds high = std::max(4.0 * low, 0.25 * run.work);
    const double step = std::pow(high / low, 1.0 / (kCurvePoints - 1));
    Seconds interval = low;
    for (int i = 0; i < kCurvePoints && !player.stopped(); ++i, interval *= step) {
        RunSpec spec = run;
        spec.checkpoints.cadence = spot::Cadence::fixed;
        spec.checkpoints.interval = interval;
        const auto s = player.play(spec, r.policies.front());
        if (!s || s->partial) continue;
        study.curve.push_back({interval, s->hours.mean, s->usd.mean, s->goodput});
    }
}

void sample_run(const SimulateRequest& r, Study& study) {
    const auto policy = spot::make_policy(r.policies.front());
    const RunSpec& spec = r.input.run.spec;
    SampledRun best;
    double nearest = std::numeric_limits<double>::infinity();
    for (std::uint64_t run = 0; run < std::min(study.main.runs, kSampleTries); ++run) {
        const spot::RunResult result = spot::play(spec, *policy, r.seed, run, nullptr);
        const double away = std::abs(result.time.wall() / kHour - study.main.hours.p50);
        if (away >= nearest) continue;
        nearest = away;
        best.run = run;
    }
    best.result = spot::play(spec, *policy, r.seed, best.run, &best.events);
    study.sample = std::move(best);
}

/// How many things are played, at most.
std::size_t parts_of(const SimulateRequest& r, std::size_t rules) {
    std::size_t parts = 1 + rules;
    if (r.compare) parts += r.policies.size() - 1 + std::size(kCadences) + kMostLuck + kStressed;
    if (r.curve) parts += kCurvePoints;
    return parts;
}

}  // namespace

Result<Study> make_study(const SimulateRequest& request, const StudyHooks& hooks) {
    const RunSpec& spec = request.input.run.spec;
    const std::string& policy = request.policies.front();
    const auto rules = request.rules ? rule_changes(spec) : std::vector<Change>{};
    Player player(request, hooks, parts_of(request, rules.size()));
    auto main = player.play(spec, policy);
    if (!main) return main.error();
    Study study;
    study.main = std::move(*main);
    if (!study.main.partial) {
        if (request.compare) {
            play_policies(request, player, study);
            play_bound(request, hooks, study);
            play_cadences(request, player, study);
        }
        if (auto error = play_changes(rules, policy, player, study.rules)) return *error;
        const auto luck = request.compare ? luck_changes(spec, study.main) : std::vector<Change>{};
        if (auto error = play_changes(luck, policy, player, study.what_ifs)) return *error;
        if (request.curve) {
            play_curve(request, player, study);
            sample_run(request, study);
        }
    }
    study.partial = study.main.partial || player.stopped();
    return study;
}

std::string first_words(const Error& e) {
    if (e.diagnostics.empty()) return "refused";
    const Diagnostic& d = e.diagnostics.front();
    return d.why.empty() ? d.what : d.what + ": " + d.why;
}

bool is_sure(const Summary& s) {
    return s.finished >= kSureShare && s.meets_deadline >= kSureShare &&
           s.meets_budget >= kSureShare;
}

double goodput_of(const Summary& s) {
    const Seconds wall = s.mean_time.wall();
    return wall > Seconds{} ? s.mean_time.useful / wall : 0;
}

double usd_standard_error(const Summary& s) {
    return s.runs > 1 ? s.usd_deviation / std::sqrt(static_cast<double>(s.runs)) : 0;
}

ShareRange share_range(double share, std::uint64_t runs) {
    constexpr double kZ = 1.959964;  // 97.5 % of a normal distribution
    const double n = static_cast<double>(runs);
    if (n < 1) return {};
    const double centre = share + kZ * kZ / (2 * n);
    const double away = kZ * std::sqrt(share * (1 - share) / n + kZ * kZ / (4 * n * n));
    const double scale = 1 + kZ * kZ / n;
    // At the ends the formula is exact, its arithmetic is not.
    return {share <= 0 ? 0.0 : std::max(0.0, (centre - away) / scale),
            share >= 1 ? 1.0 : std::min(1.0, (centre + away) / scale)};
}

}  // namespace trainyard::cli
