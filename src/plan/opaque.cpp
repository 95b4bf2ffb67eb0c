#include "opaque.hpp"

#include <algorithm>
#include <cmath>

#include "best_mapping.hpp"

namespace trainyard::plan {
namespace {

FlopPerSecond peak16(const catalog::Accelerator& a) {
    const auto bf16 = a.peak_for(catalog::Precision::bf16);
    return bf16 ? *bf16 : a.peak_for(catalog::Precision::fp16).value_or(FlopPerSecond{});
}

double device_rate(const Candidate& c, const workload::Job& job, const Assumptions& a) {
    const double efficiency = job.mfu.value_or(a.number("opaque.efficiency"));
    const Flop per_sample = 3 * *job.model.opaque_forward_flop_per_sample * kFlop;
    return c.devices() * efficiency * (peak16(*c.accelerator) * kSecond / per_sample);
}

perf::MemoryBreakdown memory_of(const workload::Job& job, const Candidate& c,
                                const Assumptions& a) {
    perf::MemoryBreakdown m;
    const Bytes params = *job.model.opaque_params * kByte;
    m.weights = 2 * params;
    m.gradients = 2 * params;
    m.optimizer = 12 * params;
    m.activations = c.training.micro_batch * *job.model.opaque_forward_flop_per_sample *
                    a.number("opaque.activation_bytes_per_flop") * kByte;
    m.runtime = 2 * kGiB;
    m.total = m.weights + m.gradients + m.optimizer + m.activations + m.runtime;
    m.capacity = c.accelerator->memory;
    return m;
}

}  // namespace

InputPipeline input_pipeline(const Candidate& c, const workload::Job& job, const Assumptions& a) {
    InputPipeline p;
    p.device_samples_per_s = device_rate(c, job, a);
    p.cpu_samples_per_s = c.nodes * c.instance->vcpu * a.number("data.decode_images_per_vcpu");
    p.fed_samples_per_s = p.cpu_samples_per_s * a.number("data.gpu_decode_factor");
    return p;
}

std::optional<Candidate> opaque_candidate(const Eligible& e, int nodes, const workload::Job& job,
                                          const Work& work, const perf::Cluster& cluster,
                                          const Assumptions& a) {
    if (!job.model.opaque_params || !job.model.opaque_forward_flop_per_sample) return std::nullopt;
    Candidate c;
    c.instance = e.instance;
    c.accelerator = e.accelerator;
    c.nodes = nodes;
    c.inter = cluster.inter;
    c.training = base_training(job, work);
    c.training.precision = e.precision;
    c.training.parallel.data = nodes * e.instance->accelerators;
    c.training.micro_batch = static_cast<int>(a.number("opaque.batch_per_device"));
    do {
        c.prediction.memory = memory_of(job, c, a);
        if (c.prediction.memory.fits()) break;
        c.training.micro_batch /= 2;
    } while (c.training.micro_batch >= 1);
    if (c.training.micro_batch < 1) return std::nullopt;
    c.training.global_batch = c.training.micro_batch * c.devices();

    const InputPipeline feed = input_pipeline(c, job, a);
    const double rate = std::min(feed.device_samples_per_s, feed.fed_samples_per_s);
    perf::StepBreakdown& s = c.prediction.step;
    s.gemm = c.training.global_batch / feed.device_samples_per_s * kSecond;
    if (nodes > 1 && c.inter.per_node > BytesPerSecond{}) {
        s.data_comm = 4 * *job.model.opaque_params * kByte / c.inter.per_node;
    }
    s.total = std::max(c.training.global_batch / rate * kSecond, s.gemm) + s.data_comm;
    s.launch = s.total - s.gemm - s.data_comm;  // devices wait for data
    if (feed.fed_samples_per_s < feed.device_samples_per_s) c.limit = "input pipeline";
    const Flop step_flop =
        3 * *job.model.opaque_forward_flop_per_sample * c.training.global_batch * kFlop;
    c.prediction.model_flop = c.prediction.model_flop_full = c.prediction.hardware_flop = step_flop;
    c.prediction.mfu =
        step_flop / s.total / (peak16(*e.accelerator) * static_cast<double>(c.devices()));
    c.prediction.communication_share = s.data_comm / s.total;
    c.step = s.total;
    c.steps = steps_of(work, c.training.global_batch);
    c.band = {0.7, 1.5, "no measured run of this kind in our table: assumed -30 % to +50 %"};
    return c;
}

}  // namespace trainyard::plan
