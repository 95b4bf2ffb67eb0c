// The next run's ratio measured / predicted, given those of earlier runs of the same kind. Before
// any run it lies in the published band. A kind's mean differs from the band's centre with variance
// `between`, a run differs from its kind's mean with a variance of its own kind, of which only a
// distribution is known (data/perf/calibration.csv, tools/fit_calibration.py). Runs narrow both.
// All in ln(ratio), in units of the band.

#include "trainyard/perf/calibration.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "embedded.hpp"
#include "trainyard/base/contract.hpp"
#include "trainyard/base/text.hpp"
#include "trainyard/doc/csv.hpp"
#include "trainyard/perf/stack.hpp"

namespace trainyard::perf {

namespace {

constexpr double kNormal90 = 1.2815515655446004;  ///< 80 % lie within so many deviations

struct Prior {
    double between = 0;
    double within_scale = 0;
    double within_freedom = 0;
};

Prior read_prior() {
    const auto table = doc::parse_csv(embedded_files().at("calibration.csv"), "calibration.csv");
    TRAINYARD_ASSERT(table.has_value(), "the embedded table parses; a test checks it");
    Prior prior;
    for (std::size_t row = 0; row < table->size(); ++row) {
        const std::string_view name = table->cell(row, "name");
        const double value = parse_number(table->cell(row, "value")).value_or(0);
        if (name == "between") prior.between = value;
        if (name == "within_scale") prior.within_scale = value;
        if (name == "within_freedom") prior.within_freedom = value;
    }
    TRAINYARD_ASSERT(prior.between > 0 && prior.within_scale > 0 && prior.within_freedom > 0,
                     "the table names all three; a test checks it");
    return prior;
}

/// `sorted` ascending; linear between the ranks.
double quantile(const std::vector<double>& sorted, double q) {
    const double at = q * static_cast<double>(sorted.size() - 1);
    const auto low = static_cast<std::size_t>(at);
    const std::size_t high = std::min(low + 1, sorted.size() - 1);
    return sorted[low] + (at - static_cast<double>(low)) * (sorted[high] - sorted[low]);
}

/// A normal distribution and how likely it is.
struct Part {
    double weight = 0;
    double mean = 0;
    double deviation = 0;
};

double below(const std::vector<Part>& parts, double x) {
    double sum = 0;
    for (const Part& p : parts) {
        sum += p.weight * 0.5 * std::erfc((p.mean - x) / (p.deviation * std::numbers::sqrt2));
    }
    return sum;
}

double quantile(const std::vector<Part>& parts, double q) {
    double low = -100, high = 100;
    for (int i = 0; i < 60; ++i) {
        const double middle = (low + high) / 2;
        (below(parts, middle) < q ? low : high) = middle;
    }
    return (low + high) / 2;
}

struct Seen {
    double value = 0;
    double variance = 0;
};

/// The distribution of the next run: one normal for each variance `within` that is possible,
/// weighed by how well it explains the runs.
std::vector<Part> next_run(const std::vector<Seen>& runs) {
    static const Prior prior = read_prior();
    constexpr int kSteps = 240;
    constexpr double kFrom = -6, kTo = 8;  // of ln(within / scale)
    std::vector<Part> parts;
    std::vector<double> logs;
    for (int i = 0; i <= kSteps; ++i) {
        const double at = kFrom + (kTo - kFrom) * i / kSteps;
        const double within = prior.within_scale * std::exp(at);
        // The scaled inverse chi-square's density of ln(within).
        double log_weight = -prior.within_freedom / 2 * (at + std::exp(-at));
        double precision = 1 / prior.between, sum = 0;
        for (const Seen& run : runs) {
            const double variance = within + run.variance;
            precision += 1 / variance;
            sum += run.value / variance;
            log_weight -= (std::log(variance) + run.value * run.value / variance) / 2;
        }
        const double mean = sum / precision;
        log_weight += (mean * sum - std::log(precision)) / 2;
        logs.push_back(log_weight);
        parts.push_back({0, mean, std::sqrt(1 / precision + within)});
    }
    const double most = *std::max_element(logs.begin(), logs.end());
    double total = 0;
    for (std::size_t i = 0; i < parts.size(); ++i)
        total += parts[i].weight = std::exp(logs[i] - most);
    for (Part& p : parts) p.weight /= total;
    return parts;
}

}  // namespace

CalibrationKey calibration_key(const workload::Model& model, const workload::Training& training,
                               const catalog::Accelerator& accelerator, std::string_view instance) {
    return {to_lower(model.family.empty() ? model.name : model.family), std::string(instance),
            training.stack.empty() ? default_stack_of(accelerator).name : training.stack};
}

MeasuredRun measure(const std::vector<StepSpan>& spans, Seconds predicted, std::string source) {
    TRAINYARD_ASSERT(spans.size() >= kFewestSpans && predicted > 0 * kSecond,
                     "the caller leaves out what is too short");
    MeasuredRun run;
    run.source = std::move(source);
    std::vector<double> logs;
    for (const StepSpan& span : spans) {
        const double ratio = span.time / static_cast<double>(span.steps) / predicted;
        run.steps += span.steps;
        run.seen.push_back(ratio);
        logs.push_back(std::log(ratio));
    }
    std::vector<double> sorted = run.seen;
    std::sort(sorted.begin(), sorted.end());
    run.ratio = quantile(sorted, 0.5);
    const double n = static_cast<double>(logs.size());
    double mean = 0, square = 0, product = 0;
    for (const double v : logs) mean += v / n;
    for (std::size_t i = 0; i < logs.size(); ++i) {
        square += (logs[i] - mean) * (logs[i] - mean);
        if (i > 0) product += (logs[i] - mean) * (logs[i - 1] - mean);
    }
    // Neighbours that are alike say less than as many independent spans would; a median's variance
    // is pi / 2 that of a mean.
    const double alike = square > 0 ? std::clamp(product / square, 0.0, 0.9) : 0;
    run.variance = std::numbers::pi / 2 * square / (n - 1) / n * (1 + alike) / (1 - alike);
    return run;
}

Calibration calibrate(CalibrationKey key, const ErrorBand& before,
                      const std::vector<MeasuredRun>& runs) {
    TRAINYARD_ASSERT(!runs.empty(), "a calibration rests on runs");
    const double low = std::log(before.low), high = std::log(before.high);
    const double centre = (low + high) / 2;
    const double unit = std::max((high - low) / 2 / kNormal90, 1e-6);
    Calibration c;
    c.key = std::move(key);
    std::vector<Seen> seen;
    std::vector<double> spans;
    for (const MeasuredRun& run : runs) {
        seen.push_back({(std::log(run.ratio) - centre) / unit, run.variance / unit / unit});
        spans.insert(spans.end(), run.seen.begin(), run.seen.end());
        c.steps += run.steps;
        c.sources.push_back(run.source);
    }
    const std::vector<Part> next = next_run(seen);
    const auto ratio = [&](double q) { return std::exp(centre + unit * quantile(next, q)); };
    std::sort(spans.begin(), spans.end());
    c.factor = ratio(0.5);
    // Never narrower than what was seen.
    c.band.low = std::min(ratio(0.1), quantile(spans, 0.1)) / c.factor;
    c.band.high = std::max(ratio(0.9), quantile(spans, 0.9)) / c.factor;
    c.band.basis = std::to_string(runs.size()) + (runs.size() == 1 ? " run" : " runs") +
                   " of your own of " + c.key.family + " on " + c.key.instance + " with " +
                   c.key.stack + ", and " + before.basis;
    return c;
}

void scale_step(Prediction& p, double factor) {
    StepBreakdown& s = p.step;
    for (Seconds* t : {&s.gemm, &s.attention, &s.memory_bound, &s.head_loss, &s.recompute,
                       &s.launch, &s.tensor_comm, &s.expert_comm, &s.context_comm, &s.pipeline_comm,
                       &s.pipeline_bubble, &s.data_comm, &s.optimizer, &s.straggler, &s.total}) {
        *t *= factor;
    }
    p.tokens_per_second *= 1 / factor;
    p.mfu /= factor;
}

const Calibration* Calibrations::find(const CalibrationKey& key) const {
    const auto it =
        std::find_if(all_.begin(), all_.end(), [&](const Calibration& c) { return c.key == key; });
    return it == all_.end() ? nullptr : &*it;
}

}  // namespace trainyard::perf
