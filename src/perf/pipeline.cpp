// 1F1B: the busiest stage works m times; filling and draining costs one pass through the other stages. Interleaving
// with v chunks divides that by v and multiplies the sends by v (Narayanan et al., arXiv 2104.04473, sec. 2.2).

#include "pipeline.hpp"

#include <algorithm>
#include <cmath>

namespace trainyard::perf {

Seconds StageCost::launch() const {
    // Host and device run asynchronously: the slower one rules, but near balance each waits for the other now and then,
    // so the smooth maximum (h^4 + d^4)^(1/4) is closer than max(h, d).
    const double device = (forward.total() + backward.total() + recompute.total()) / kSecond;
    const double host = (forward.host + backward.host + recompute.host) / kSecond;
    if (host <= 0) return {};
    const double ratio = device / host;
    const double both = host * std::sqrt(std::sqrt(1 + ratio * ratio * ratio * ratio));
    return (both - device) * kSecond;
}

StageLayers stage_layers(const workload::Model& m, int stages, int index) {
    const double dense_first = m.moe ? m.moe->dense_layers : 0;
    double count = static_cast<double>(m.layers) / stages;
    if (m.layers % stages != 0) {
        const double most = std::ceil(count);
        const double spare = most * stages - m.layers;
        if (index == stages - 1) count = most - std::min(1.0, spare);
        else if (index == 0) count = most - std::clamp(spare - 1, 0.0, 1.0);
        else count = most;
    }
    if (!m.moe) return {count, 0};
    const double dense = index == 0 ? std::min(count, dense_first) : 0;
    return {dense, count - dense};
}

PipelineTime pipeline_time(const PipelineInput& in, const GlobalConstants& c, const Stack& stack) {
    PipelineTime t;
    t.busiest = in.first;
    if (in.stages == 1) {
        t.busiest_total = in.first.total();
        return t;
    }
    if (in.stages > 2 && in.middle.total() > t.busiest.total()) t.busiest = in.middle;
    if (in.last.total() > t.busiest.total()) t.busiest = in.last;
    t.busiest_total = t.busiest.total();
    const Seconds all = in.first.total() + in.last.total() + (in.stages - 2.0) * in.middle.total();
    t.bubble = (all - t.busiest_total) / in.chunks;
    const double hidden = stack.pipeline_overlap ? c.pipeline_overlap : 0;
    const double steady = 2.0 * in.micro_batches * in.chunks * (1 - hidden);
    const double fill = 2.0 * (in.stages - 1);
    t.comm = (steady + fill) * in.send;
    t.scheduler = (in.micro_batches + in.stages - 1.0) * c.microbatch_overhead_ms * kMillisecond;
    return t;
}

}  // namespace trainyard::perf
