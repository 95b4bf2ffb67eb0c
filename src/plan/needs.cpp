// Sizes of data and checkpoints, from the model and the method.

#include <algorithm>
#include <cmath>

#include "trainyard/base/text.hpp"
#include "trainyard/perf/optimizer_state.hpp"
#include "trainyard/plan/bill.hpp"

namespace trainyard::plan {
namespace {

using workload::Method;

/// Bytes per trained parameter as kept in memory and in a checkpoint: two, or four in fp32 and
/// tf32.
double weight_bytes(const workload::Training& t) {
    using catalog::Precision;
    return t.precision == Precision::fp32 || t.precision == Precision::tf32 ? 4 : 2;
}

int rank_of(const workload::Training& t) { return t.lora ? t.lora->rank : workload::Lora{}.rank; }

double bytes_per_token(const workload::Model& m, const Assumptions& a) {
    const double wide = a.number("data.bytes_per_token");
    return m.vocab > 0 && m.vocab <= 65536 ? wide / 2 : wide;
}

/// FSx for Lustre only where S3 and local disks are too slow: most training data is read at MB/s.
std::optional<Bytes> lustre_size(const DataNeeds& n, const Candidate& c, const Assumptions& a) {
    const BytesPerSecond s3 = c.nodes * a.number("data.s3_gb_per_s_node") * kGBPerSecond;
    if (n.on_nvme || n.data_rate < a.number("data.fsx_threshold") * s3) return std::nullopt;
    return std::max(a.number("storage.fsx_tib") * kTiB, n.dataset * 1.1);
}

}  // namespace

Bytes sample_size(const workload::Job& job, const Work& work, const Assumptions& a) {
    if (job.sample_size) return *job.sample_size;
    if (job.model.vocab > 0) return work.sequence * bytes_per_token(job.model, a) * kByte;
    if (job.dataset && job.samples) return *job.dataset / (*job.samples / job.epochs);
    return a.number("data.bytes_per_image") * kByte;
}

Bytes dataset_size(const workload::Job& job, const Work& work, const Assumptions& a) {
    if (job.dataset) return *job.dataset;
    const double once = work.sequences / job.epochs;
    return once * sample_size(job, work, a);
}

DataNeeds data_needs(const workload::Job& job, const Work& work, const Candidate& c,
                     const Assumptions& a) {
    DataNeeds n;
    n.dataset = dataset_size(job, work, a);
    const bool adapters = job.method == Method::lora || job.method == Method::qlora;
    const double trained =
        adapters ? workload::count_adapters(job.model, rank_of(c.training)).total : work.params;
    const double width = weight_bytes(c.training);
    const double each = width + perf::optimizer_state_bytes(c.training.optimizer, width);
    n.checkpoint = trained * each * kByte;
    n.final_weights = 2 * trained * kByte;
    n.checkpoint_basis = format_count(trained) +
                         (adapters ? " adapter parameters x " : " parameters x ") +
                         format_fixed(each, 0) + " B (weights, master copy, optimizer)";
    if (c.step > Seconds{}) {
        const double samples =
            c.training.global_batch *
            static_cast<double>(std::max(1, c.jobs_per_node * (job.copies > 1 ? c.nodes : 1)));
        n.data_rate = samples * sample_size(job, work, a) / c.step;
    }
    n.on_nvme = c.instance->local_nvme && n.dataset <= *c.instance->local_nvme;
    n.lustre = lustre_size(n, c, a);
    return n;
}

}  // namespace trainyard::plan
