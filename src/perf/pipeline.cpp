// 1F1B: the busiest stage works m times; filling and draining costs one pass through the other
// stages. Interleaving with v chunks divides that by v and multiplies the sends by v (Narayanan et
// al., arXiv 2104.04473, sec. 2.2).

#include "pipeline.hpp"

#include <algorithm>
#include <cmath>

namespace trainyard::perf {

Seconds StageCost::launch() const {
    // Host and device run asynchronously: the slower one rules, but near balance each waits for the
    // other now and then, so the smooth maximum (h^4 + d^4)^(1/4) is closer than max(h, d).
    const double device = (forward.total() + backward.total() + recompute.total()) / kSecond;
    const double host = (forward.host + backward.host + recompute.host) / kSecond;
    if (host <= 0) return {};
    const double ratio = device / host;
    const double both = host * std::sqrt(std::sqrt(1 + ratio * ratio * ratio * ratio));
    return (both - device) * kSecond;
}

namespace {

/// Layers before stage `index` (index = stages: all). When the stages do not divide the layers,
/// some hold one layer less: the last first (it has the head), then the first (the embedding), then
/// from the back.
int layers_before(int layers, int stages, int index) {
    const int most = (layers + stages - 1) / stages;
    const int spare = most * stages - layers;
    if (index >= stages) return layers;
    const int first_is_short = spare >= 2 ? 1 : 0;
    // The other short stages sit at stages - 1, stages - 2, ...
    const int back = spare - first_is_short;
    const int short_before =
        (index > 0 ? first_is_short : 0) + std::max(0, index - (stages - back));
    return most * index - short_before;
}

}  // namespace

StageLayers stage_layers(const workload::Model& m, int stages, int index) {
    const int begin = layers_before(m.layers, stages, index);
    const int count = layers_before(m.layers, stages, index + 1) - begin;
    if (!m.moe) return {static_cast<double>(count), 0};
    const int dense = std::clamp(m.moe->dense_layers - begin, 0, count);
    return {static_cast<double>(dense), static_cast<double>(count - dense)};
}

int middle_stage(const workload::Model& m, int stages) {
    if (!m.moe) return 1;
    int index = 1;
    while (index < stages - 2 && layers_before(m.layers, stages, index) < m.moe->dense_layers)
        ++index;
    return index;
}

PipelineTime pipeline_time(const PipelineInput& in, const GlobalConstants& c, const Stack& stack) {
    PipelineTime t;
    t.busiest = in.first;
    t.busiest_total = in.first.total();
    t.last_is_busiest = in.stages == 1;
    if (in.stages == 1) return t;
    const Seconds first = t.busiest_total;
    const Seconds last = in.last.total();
    const Seconds middle = in.stages > 2 ? in.middle.total() : Seconds{};
    const auto take_busier = [&t](const StageCost& stage, Seconds total) {
        if (total <= t.busiest_total) return;
        t.busiest = stage;
        t.busiest_total = total;
    };
    take_busier(in.middle, middle);
    take_busier(in.last, last);
    t.last_is_busiest = last >= t.busiest_total;
    const Seconds all = first + last + (in.stages - 2.0) * middle;
    t.bubble = (all - t.busiest_total) / in.chunks;
    const double hidden = stack.pipeline_overlap ? c.pipeline_overlap : 0;
    const double steady = 2.0 * in.micro_batches * in.chunks * (1 - hidden);
    const double fill = 2.0 * (in.stages - 1);
    t.comm = (steady + fill) * in.send;
    t.scheduler = (in.micro_batches + in.stages - 1.0) * c.microbatch_overhead_ms * kMillisecond;
    return t;
}

}  // namespace trainyard::perf
