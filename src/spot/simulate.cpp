// Many runs on many threads. Runs are taken in blocks; sums of floating-point numbers are merged in
// the order of the blocks, so that the number of threads never changes a digit.

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <memory>
#include <mutex>
#include <thread>

#include "check_run.hpp"
#include "engine.hpp"
#include "histogram.hpp"

namespace trainyard::spot {
namespace {

constexpr std::uint64_t kBlock = 256;  ///< runs
constexpr int kHistogramBins = 40;

/// What is summed over runs, in order.
struct Sums {
    std::uint64_t runs = 0;
    std::uint64_t digest = 0;
    std::uint64_t finished = 0, in_time = 0, in_budget = 0;
    std::uint64_t interruptions = 0, failures = 0;
    double hours = 0, usd = 0, usd_squared = 0, goodput = 0;
    double node_hours = 0, on_demand_node_hours = 0;
    TimeSplit time;
    MoneySplit money;
    Seconds interval;

    void add(const RunSpec& spec, std::uint64_t run, const RunResult& r);
    void add(const Sums& o);
};

std::uint64_t mix_in(std::uint64_t digest, double value) {
    return Random::mix(digest ^ std::bit_cast<std::uint64_t>(value));
}

/// Every digit of a result, and which run it is.
std::uint64_t digest_of(std::uint64_t run, const RunResult& r) {
    std::uint64_t d = Random::mix(run + 1);
    const TimeSplit& t = r.time;
    for (const Seconds s :
         {t.useful, t.slower, t.lost, t.checkpoint, t.restart, t.reshard, t.waiting})
        d = mix_in(d, s.base());
    const MoneySplit& m = r.money;
    for (const Usd u : {m.spot, m.on_demand, m.reserved, m.transfer, m.other, m.forgiven})
        d = mix_in(d, u.base());
    for (const int i : {static_cast<int>(r.ending), r.interruptions, r.failures, r.saves_on_notice})
        d = mix_in(d, i);
    return d;
}

void add_time(TimeSplit& a, const TimeSplit& b) {
    a.useful += b.useful;
    a.slower += b.slower;
    a.lost += b.lost;
    a.checkpoint += b.checkpoint;
    a.restart += b.restart;
    a.reshard += b.reshard;
    a.waiting += b.waiting;
}

void add_money(MoneySplit& a, const MoneySplit& b) {
    a.spot += b.spot;
    a.on_demand += b.on_demand;
    a.reserved += b.reserved;
    a.transfer += b.transfer;
    a.other += b.other;
    a.forgiven += b.forgiven;
}

void Sums::add(const RunSpec& spec, std::uint64_t run, const RunResult& r) {
    ++runs;
    digest += digest_of(run, r);  // a sum: the order of runs does not matter
    const bool done = r.ending == Ending::finished;
    const Seconds wall = r.time.wall();
    const Usd total = r.money.total();
    finished += done ? 1U : 0U;
    in_time += done && (!spec.deadline || wall <= *spec.deadline) ? 1U : 0U;
    in_budget += done && (!spec.budget || total <= *spec.budget) ? 1U : 0U;
    interruptions += static_cast<std::uint64_t>(r.interruptions);
    failures += static_cast<std::uint64_t>(r.failures);
    hours += wall / kHour;
    usd += total / kUsd;
    usd_squared += (total / kUsd) * (total / kUsd);
    goodput += wall > Seconds{} ? r.time.useful / wall : 0;
    node_hours += r.spot_node_hours + r.on_demand_node_hours + r.reserved_node_hours;
    on_demand_node_hours += r.on_demand_node_hours;
    add_time(time, r.time);
    add_money(money, r.money);
    if (run == 0) interval = r.interval;
}

void Sums::add(const Sums& o) {
    runs += o.runs;
    digest += o.digest;
    finished += o.finished;
    in_time += o.in_time;
    in_budget += o.in_budget;
    interruptions += o.interruptions;
    failures += o.failures;
    hours += o.hours;
    usd += o.usd;
    usd_squared += o.usd_squared;
    goodput += o.goodput;
    node_hours += o.node_hours;
    on_demand_node_hours += o.on_demand_node_hours;
    add_time(time, o.time);
    add_money(money, o.money);
    interval += o.interval;  // of one block alone
}

/// Shared by the threads of one simulate().
class Study {
  public:
    Study(const RunSpec& spec, std::string_view policy, const SimulateOptions& options)
        : spec_(spec), policy_(policy), options_(options) {}

    void play() {
        const std::uint64_t blocks = (options_.runs + kBlock - 1) / kBlock;
        const unsigned most = options_.threads > 0 ? static_cast<unsigned>(options_.threads)
                                                   : std::thread::hardware_concurrency();
        const auto threads = static_cast<unsigned>(
            std::clamp<std::uint64_t>(most, 1, std::max<std::uint64_t>(1, blocks)));
        std::vector<std::thread> others;
        for (unsigned i = 1; i < threads; ++i) others.emplace_back([this] { work(false); });
        work(true);
        for (std::thread& t : others) t.join();
        for (const auto& [block, sums] : early_) sums_.add(sums);
    }

    const Sums& sums() const { return sums_; }
    const Histogram& hours() const { return hours_; }
    const Histogram& usd() const { return usd_; }

  private:
    bool stopped() const { return options_.stop != nullptr && options_.stop->load(); }

    void work(bool reports) {
        const std::unique_ptr<Policy> policy = make_policy(policy_);
        Engine engine(spec_);
        Histogram hours;
        Histogram usd;
        while (!stopped()) {
            const std::uint64_t block = next_.fetch_add(1);
            const std::uint64_t first = block * kBlock;
            if (first >= options_.runs) break;
            const std::uint64_t last = std::min(first + kBlock, options_.runs);
            Sums sums;
            for (std::uint64_t run = first; run < last; ++run) {
                const RunResult r = engine.play(*policy, options_.seed, run, nullptr);
                sums.add(spec_, run, r);
                hours.add(r.time.wall() / kHour);
                usd.add(r.money.total() / kUsd);
            }
            const std::uint64_t played = merge(block, sums);
            if (reports && options_.progress)
                options_.progress(static_cast<double>(played) / static_cast<double>(options_.runs));
        }
        const std::lock_guard lock(mutex_);
        hours_.add(hours);
        usd_.add(usd);
    }

    /// Blocks that end early wait for those before them: at most as many as there are threads.
    std::uint64_t merge(std::uint64_t block, const Sums& sums) {
        const std::lock_guard lock(mutex_);
        early_.emplace(block, sums);
        played_ += sums.runs;
        while (!early_.empty() && early_.begin()->first == merged_) {
            sums_.add(early_.begin()->second);
            early_.erase(early_.begin());
            ++merged_;
        }
        return played_;
    }

    const RunSpec& spec_;
    std::string_view policy_;
    const SimulateOptions& options_;
    std::atomic<std::uint64_t> next_ = 0;
    std::mutex mutex_;
    std::map<std::uint64_t, Sums> early_;
    std::uint64_t merged_ = 0;
    std::uint64_t played_ = 0;
    Sums sums_;
    Histogram hours_;
    Histogram usd_;
};

Quantiles quantiles(const Histogram& h, double sum, std::uint64_t runs) {
    return {h.quantile(0.1), h.quantile(0.5), h.quantile(0.9), sum / static_cast<double>(runs)};
}

Summary summarise(const Study& study, std::string_view policy, std::uint64_t wanted) {
    const Sums& s = study.sums();
    Summary out;
    out.policy = policy;
    out.runs = s.runs;
    out.partial = s.runs < wanted;
    out.unseed = Random::mix(s.digest + s.runs);
    if (s.runs == 0) return out;
    const auto n = static_cast<double>(s.runs);
    out.hours = quantiles(study.hours(), s.hours, s.runs);
    out.usd = quantiles(study.usd(), s.usd, s.runs);
    const double variance =
        (s.usd_squared - n * out.usd.mean * out.usd.mean) / std::max(n - 1, 1.0);
    // Rounding leaves about this much where all runs cost the same.
    out.usd_deviation = variance > 1e-10 * out.usd.mean * out.usd.mean ? std::sqrt(variance) : 0.0;
    out.meets_deadline = static_cast<double>(s.in_time) / n;
    out.meets_budget = static_cast<double>(s.in_budget) / n;
    out.finished = static_cast<double>(s.finished) / n;
    out.goodput = s.goodput / n;
    out.mean_time = s.time;
    for (Seconds TimeSplit::* part :
         {&TimeSplit::useful, &TimeSplit::slower, &TimeSplit::lost, &TimeSplit::checkpoint,
          &TimeSplit::restart, &TimeSplit::reshard, &TimeSplit::waiting})
        out.mean_time.*part *= 1 / n;
    out.mean_money = s.money;
    for (Usd MoneySplit::* part :
         {&MoneySplit::spot, &MoneySplit::on_demand, &MoneySplit::reserved, &MoneySplit::transfer,
          &MoneySplit::other, &MoneySplit::forgiven})
        out.mean_money.*part *= 1 / n;
    out.mean_interruptions = static_cast<double>(s.interruptions) / n;
    out.mean_failures = static_cast<double>(s.failures) / n;
    out.on_demand_share = s.node_hours > 0 ? s.on_demand_node_hours / s.node_hours : 0;
    out.hours_histogram = study.hours().bins(kHistogramBins);
    out.usd_histogram = study.usd().bins(kHistogramBins);
    out.interval = s.interval;
    return out;
}

}  // namespace

Result<Summary> simulate(const RunSpec& spec, std::string_view policy,
                         const SimulateOptions& options) {
    if (auto mistakes = check_run(spec, policy, options); !mistakes.empty())
        return bad_input(std::move(mistakes));
    Study study(spec, policy, options);
    study.play();
    return summarise(study, policy, options.runs);
}

}  // namespace trainyard::spot
