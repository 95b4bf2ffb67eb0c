#include "trainyard/plan/candidate.hpp"

#include "trainyard/base/contract.hpp"

namespace trainyard::plan {
namespace {

void append(std::string& out, const std::string& word) {
    if (!out.empty()) out += " · ";
    out += word;
}

std::string data_axis(const workload::Parallelism& p, int data) {
    const std::string n = std::to_string(data);
    switch (p.zero) {
        case workload::Zero::none:
            return "DDP " + n;
        case workload::Zero::optimizer:
            return "DP " + n + " ZeRO-1";
        case workload::Zero::gradients:
            return "DP " + n + " ZeRO-2";
        case workload::Zero::weights:
            break;
    }
    if (p.shard_group > 0 && p.shard_group < data) {
        return "HSDP " + std::to_string(data / p.shard_group) + "x" + std::to_string(p.shard_group);
    }
    return "FSDP " + n;
}

}  // namespace

std::string describe_mapping(const workload::Training& t) {
    const workload::Parallelism& p = t.parallel;
    std::string out;
    if (p.tensor > 1) append(out, "TP " + std::to_string(p.tensor));
    if (p.pipeline > 1) {
        std::string pp = "PP " + std::to_string(p.pipeline);
        if (p.virtual_stages > 1) pp += "x" + std::to_string(p.virtual_stages);
        append(out, pp);
    }
    if (p.context > 1) append(out, "CP " + std::to_string(p.context));
    if (p.expert > 1) append(out, "EP " + std::to_string(p.expert));
    const int ranks = p.data * (p.zero == workload::Zero::weights ? p.context : 1);
    if (p.data > 1 || p.zero != workload::Zero::none) append(out, data_axis(p, ranks));
    if (out.empty()) return "1 device";
    return out;
}

int complexity(const workload::Training& t) {
    const workload::Parallelism& p = t.parallel;
    int axes = 0;
    if (p.tensor > 1) axes += 4;
    if (p.pipeline > 1) axes += 6;
    if (p.virtual_stages > 1) axes += 2;
    if (p.context > 1) axes += 4;
    if (p.expert > 1) axes += 4;
    // FSDP ships with PyTorch; sharding only the optimizer needs another stack.
    if (p.zero == workload::Zero::weights) axes += p.shard_group > 0 ? 3 : 2;
    if (p.zero == workload::Zero::optimizer || p.zero == workload::Zero::gradients) axes += 3;
    if (t.recompute != workload::Recompute::none) axes += 1;
    return axes;
}

std::string describe_cluster(const Candidate& c) {
    if (c.nodes == 1) return c.instance->type;
    return std::to_string(c.nodes) + "x " + c.instance->type;
}

perf::Prediction with_mfu(perf::Prediction p, FlopPerSecond peak, int devices, double mfu) {
    TRAINYARD_ASSERT(mfu > 0 && devices > 0, "the caller validated the MFU");
    perf::StepBreakdown& s = p.step;
    Seconds* const compute[] = {&s.gemm,      &s.attention, &s.memory_bound, &s.head_loss,
                                &s.recompute, &s.launch,    &s.optimizer};
    Seconds predicted;
    for (const Seconds* t : compute) predicted += *t;
    const Seconds before = s.total;
    const Seconds own = p.model_flop_full / (mfu * static_cast<double>(devices) * peak);
    for (Seconds* t : compute) *t *= own / predicted;
    s.total += own - predicted;
    const double slower = s.total / before;
    p.tokens_per_second *= 1 / slower;
    p.mfu /= slower;
    p.communication_share /= slower;
    p.bubble_share /= slower;
    return p;
}

void apply_calibration(Candidate& c, const workload::Model& model,
                       const perf::Calibrations& calibrations) {
    const perf::Calibration* mine = calibrations.find(
        perf::calibration_key(model, c.training, *c.accelerator, c.instance->type));
    if (mine == nullptr) return;
    perf::scale_step(c.prediction, mine->factor);
    c.step = c.prediction.step.total;
    c.band = mine->band;
    c.correction = mine->factor;
}

}  // namespace trainyard::plan
