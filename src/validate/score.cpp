#include "trainyard/validate/score.hpp"

#include <algorithm>
#include <cmath>

namespace trainyard::validate {

using workload::Recompute;

namespace {

perf::Prediction predict_with(perf::Predictor& p, workload::Training t, Recompute mode) {
    t.recompute = mode;
    return p.predict(t);
}

/// Where the source is silent on recompute: as few layers as make it fit (Megatron's
/// --recompute-num-layers), so the step lies between the modes in the same proportion as the
/// memory.
perf::Prediction predict_lightest(perf::Predictor& p, const workload::Training& t) {
    perf::Prediction none = predict_with(p, t, Recompute::none);
    if (none.memory.fits()) return none;
    perf::Prediction full = predict_with(p, t, Recompute::full);
    // The run did run: what saved its memory is unknown, and need not be recomputation.
    if (!full.memory.fits()) return none;
    const double share =
        (none.memory.total - none.memory.capacity) / (none.memory.total - full.memory.total);
    full.step.recompute *= share;
    full.step.total = none.step.total + share * (full.step.total - none.step.total);
    full.memory.total = none.memory.capacity;
    return full;
}

double quantile(std::vector<double> v, double q) {
    if (v.empty()) return 0;
    std::sort(v.begin(), v.end());
    const double at = q * static_cast<double>(v.size() - 1);
    const auto low = static_cast<std::size_t>(at);
    const std::size_t high = std::min(low + 1, v.size() - 1);
    return v[low] + (at - static_cast<double>(low)) * (v[high] - v[low]);
}

Scored score_one(const Observation& run, const perf::Constants& constants) {
    Scored s;
    s.run = &run;
    if (!run.skipped.empty()) {
        s.skipped = run.skipped;
        return s;
    }
    perf::Predictor predictor(run.model, run.cluster, constants);
    s.prediction = run.recompute_unknown ? predict_lightest(predictor, run.training)
                                         : predictor.predict(run.training);
    const bool ran = run.step && !run.ran_out_of_memory;
    if (ran && !run.recompute_unknown && run.training.recompute == Recompute::full &&
        !s.prediction.memory.fits()) {
        // It ran, so what it keeps for backward was not all on the device.
        workload::Training t = run.training;
        t.offload_layer_inputs = true;
        const perf::Prediction offloaded = predictor.predict(t);
        s.offloaded = offloaded.memory.fits();
        if (s.offloaded) s.prediction = offloaded;
    }
    s.predicted_step = s.prediction.step.total;
    s.predicted_memory = s.prediction.memory.total;
    s.fits = s.prediction.memory.fits();
    if (run.step) s.error = *s.predicted_step / *run.step - 1;
    // Where recompute is not stated, the memory comparison would test our guess, not the model.
    if (run.memory && !run.recompute_unknown)
        s.memory_error = *s.predicted_memory / *run.memory - 1;
    if (!run.step && !run.ran_out_of_memory)
        s.skipped = "nothing was measured that can be compared";
    return s;
}

}  // namespace

std::vector<Scored> score(const std::vector<Observation>& runs, const perf::Constants& constants) {
    std::vector<Scored> all;
    all.reserve(runs.size());
    for (const Observation& run : runs) all.push_back(score_one(run, constants));
    return all;
}

ErrorSummary summarise(const std::vector<const Scored*>& rows) {
    ErrorSummary s;
    std::vector<double> absolute, signed_errors;
    int covered = 0;
    for (const Scored* r : rows) {
        if (!r->error) continue;
        absolute.push_back(std::abs(*r->error));
        signed_errors.push_back(*r->error);
        const perf::ErrorBand band = perf::error_band(r->run->accelerator);
        const double ratio = *r->run->step / *r->predicted_step;
        if (ratio >= band.low && ratio <= band.high) ++covered;
    }
    s.n = static_cast<int>(absolute.size());
    s.median = quantile(absolute, 0.5);
    s.p90 = quantile(absolute, 0.9);
    s.bias = quantile(signed_errors, 0.5);
    s.covered = s.n > 0 ? static_cast<double>(covered) / s.n : 0;
    return s;
}

namespace {

std::map<std::string, std::vector<const Scored*>> by_group(const std::vector<const Scored*>& rows) {
    std::map<std::string, std::vector<const Scored*>> groups;
    for (const Scored* r : rows) {
        if (r->error) groups[r->run->group].push_back(r);
    }
    return groups;
}

}  // namespace

ErrorSummary summarise_by_group(const std::vector<const Scored*>& rows) {
    // Each group enters with the median of its rows' absolute errors, so that a sweep of 1,440
    // counts once.
    std::vector<double> medians, biases;
    for (const auto& [name, members] : by_group(rows)) {
        const ErrorSummary g = summarise(members);
        medians.push_back(g.median);
        biases.push_back(g.bias);
    }
    ErrorSummary s;
    s.n = static_cast<int>(medians.size());
    s.median = quantile(medians, 0.5);
    s.p90 = quantile(medians, 0.9);
    s.bias = quantile(biases, 0.5);
    return s;
}

namespace {

/// One distinct configuration of a group: the median of its rows, which differ in software version
/// or repetition only.
struct Alternative {
    double measured, predicted;  ///< device-seconds per token, so that batch sizes compare
};

/// One job on one cluster: what a planner chooses among are the mappings, micro-batches, recompute
/// and precision of it.
std::string cluster_key(const Observation& o) {
    const std::string shape = std::to_string(o.model.layers) + 'x' + std::to_string(o.model.hidden);
    return o.group + '|' + o.model_name + '|' + shape + '|' + o.accelerator + '|' +
           std::to_string(o.cluster.accelerators) + '|' + std::to_string(o.training.sequence) +
           '|' + std::to_string(o.training.global_batch);
}

std::string configuration_key(const workload::Training& t) {
    const workload::Parallelism& p = t.parallel;
    std::string key;
    for (const int v : {p.data, p.tensor, p.pipeline, p.virtual_stages, p.context, p.expert,
                        p.sequence_parallel ? 1 : 0, static_cast<int>(p.zero), t.micro_batch,
                        static_cast<int>(t.recompute), static_cast<int>(t.precision),
                        static_cast<int>(t.method)}) {
        key += std::to_string(v) + ',';
    }
    return key;
}

std::vector<std::vector<Alternative>> alternatives_of(const std::vector<const Scored*>& rows) {
    std::map<std::string, std::map<std::string, std::vector<const Scored*>>> clusters;
    for (const Scored* r : rows) {
        if (r->error)
            clusters[cluster_key(*r->run)][configuration_key(r->run->training)].push_back(r);
    }
    std::vector<std::vector<Alternative>> all;
    for (const auto& [cluster, configurations] : clusters) {
        if (configurations.size() < 2) continue;
        std::vector<Alternative>& members = all.emplace_back();
        for (const auto& [key, repeats] : configurations) {
            std::vector<double> measured, predicted;
            for (const Scored* r : repeats) {
                const workload::Training& t = r->run->training;
                const double per_token =
                    r->run->cluster.accelerators / (double(t.global_batch) * t.sequence);
                measured.push_back(*r->run->step / kSecond * per_token);
                predicted.push_back(*r->predicted_step / kSecond * per_token);
            }
            members.push_back({quantile(measured, 0.5), quantile(predicted, 0.5)});
        }
    }
    return all;
}

void count_pairs(const std::vector<Alternative>& members, Ranking& ranking) {
    for (std::size_t i = 0; i < members.size(); ++i) {
        for (std::size_t j = i + 1; j < members.size(); ++j) {
            const Alternative &a = members[i], &b = members[j];
            if (std::abs(a.measured / b.measured - 1) <= 0.03) continue;
            ++ranking.pairs;
            if ((a.measured < b.measured) == (a.predicted < b.predicted)) ++ranking.ordered;
        }
    }
}

/// What the predicted best costs more than the measured best.
double regret_of(const std::vector<Alternative>& members) {
    const auto chosen = std::min_element(
        members.begin(), members.end(),
        [](const Alternative& a, const Alternative& b) { return a.predicted < b.predicted; });
    const auto best = std::min_element(
        members.begin(), members.end(),
        [](const Alternative& a, const Alternative& b) { return a.measured < b.measured; });
    return chosen->measured / best->measured - 1;
}

}  // namespace

Ranking rank_groups(const std::vector<const Scored*>& rows) {
    Ranking ranking;
    double sum = 0;
    for (const std::vector<Alternative>& members : alternatives_of(rows)) {
        ++ranking.groups;
        count_pairs(members, ranking);
        const double regret = regret_of(members);
        ranking.worst_regret = std::max(ranking.worst_regret, regret);
        sum += regret;
    }
    if (ranking.groups > 0) ranking.mean_regret = sum / ranking.groups;
    return ranking;
}

}  // namespace trainyard::validate
