#include "copies.hpp"

#include <algorithm>
#include <cmath>

#include "best_mapping.hpp"
#include "trainyard/base/text.hpp"
#include "trainyard/plan/space.hpp"

namespace trainyard::plan {
namespace {

/// One run on `devices` of this type: its candidate, or the rejection.
struct OneRun {
    std::optional<Candidate> candidate;
    std::string why;
};

/// The rate at which matrix work gets done: measured where known, else 0.75 of the peak.
FlopPerSecond useful_rate(const catalog::Accelerator& a) {
    if (a.achievable_bf16) return *a.achievable_bf16;
    const auto peak = a.peak_for(catalog::Precision::bf16);
    return 0.75 * (peak ? *peak : a.peak_for(catalog::Precision::fp16).value_or(FlopPerSecond{}));
}

/// The user measured a run: scale it by the useful rate, on devices with at least the memory it was
/// measured in.
OneRun measured_run(const Eligible& e, const Request& request, const Work& work,
                    const catalog::Catalog& catalog) {
    const catalog::Accelerator* reference = catalog.accelerator(kMeasuredOn);
    if (reference == nullptr)
        return {{}, std::string("the reference ") + kMeasuredOn + " is not in the catalog"};
    if (e.accelerator->memory < reference->memory * 0.95) {
        return {{},
                "has " + format_bytes(e.accelerator->memory) + ", the measured run had " +
                    format_bytes(reference->memory)};
    }
    Candidate c;
    c.training = base_training(request.job, work);
    c.training.precision = e.precision;
    c.training.parallel.data = 1;
    c.training.global_batch = 1;
    c.training.micro_batch = 1;
    c.steps = 1;
    const double ratio = useful_rate(*reference) / useful_rate(*e.accelerator);
    c.step = *request.job.accelerator_hours_each * kHour * ratio;
    c.prediction.step.total = c.prediction.step.gemm = c.step;
    c.band = perf::error_band(e.accelerator->id);
    if (e.accelerator == reference) c.band = {0.95, 1.05, "your own measurement, +-5 %"};
    return {c, {}};
}

OneRun modelled_run(const Eligible& e, const Request& request, const Work& work,
                    const catalog::Catalog& catalog, const Assumptions& a, int devices,
                    SearchStats& stats) {
    auto cluster = perf::cluster_of(catalog, *e.instance, 1);
    if (!cluster) return {{}, "a bandwidth the model needs is unknown"};
    cluster->accelerators = devices;
    perf::Predictor predictor(request.job.model, *cluster);
    MappingQuery q;
    q.model = &request.job.model;
    q.base = base_training(request.job, work);
    q.base.precision = e.precision;
    q.work = &work;
    q.devices = devices;
    q.per_node = e.instance->accelerators;
    q.batch_tolerance = a.number("choice.batch_tolerance");
    q.memory_headroom = a.number("memory.headroom");
    const BestMapping best = best_mapping(q, predictor, stats);
    if (!best.found)
        return {{}, "one run needs " + format_bytes(best.least_memory) + " per device"};
    Candidate c;
    c.training = best.training;
    c.prediction = predictor.predict(best.training);
    const auto peak = e.accelerator->peak_for(best.training.precision);
    if (request.job.mfu && peak)
        c.prediction = with_mfu(c.prediction, *peak, devices, *request.job.mfu);
    c.step = c.prediction.step.total;
    c.steps = steps_of(work, best.training.global_batch);
    c.band = perf::error_band(*e.accelerator, request.job.model, c.training.stack);
    c.instance = e.instance;
    c.accelerator = e.accelerator;
    apply_calibration(c, request.job.model, request.calibrations);
    return {c, {}};
}

}  // namespace

void search_copies(const Eligible& e, const Request& request, const Work& work,
                   const catalog::Catalog& catalog, const Assumptions& a, SearchResult& out) {
    const int per_node = e.instance->accelerators;
    int packed = per_node;
    OneRun run = request.job.accelerator_hours_each
                     ? measured_run(e, request, work, catalog)
                     : modelled_run(e, request, work, catalog, a, 1, out.stats);
    if (!run.candidate && !request.job.accelerator_hours_each && per_node > 1) {
        run = modelled_run(e, request, work, catalog, a, per_node, out.stats);
        packed = 1;
    }
    if (!run.candidate) {
        out.rejections.push_back({e.instance->type, Lost::memory, run.why, 0});
        return;
    }
    const int copies = request.job.copies;
    const double one_run_steps = run.candidate->steps;
    for (int nodes : node_counts((copies + packed - 1) / packed)) {
        Candidate c = *run.candidate;
        c.instance = e.instance;
        c.accelerator = e.accelerator;
        c.nodes = nodes;
        c.jobs_per_node = packed;
        const double waves =
            std::ceil(static_cast<double>(copies) / (static_cast<double>(packed) * nodes));
        c.steps = one_run_steps * waves;
        out.candidates.push_back(std::move(c));
    }
}

}  // namespace trainyard::plan
