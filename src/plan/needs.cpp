// Sizes of data and checkpoints, from the model and the method.

#include <algorithm>
#include <cmath>

#include "trainyard/base/text.hpp"
#include "trainyard/plan/bill.hpp"

namespace trainyard::plan {
namespace {

using workload::Method;
using workload::Optimizer;

/// Bytes per parameter of a full checkpoint: bf16 weights (2), fp32 master copy (4) and the
/// optimizer's moments.
double checkpoint_bytes_per_param(Optimizer o) {
    switch (o) {
        case Optimizer::adamw_fp32:
            return 2 + 4 + 8;
        case Optimizer::adamw_8bit:
            return 2 + 4 + 2;
        case Optimizer::adafactor:
            return 2 + 4;
        case Optimizer::adamw_bf16:
        case Optimizer::sgd:
        case Optimizer::muon:
            return 2 + 4 + 4;
    }
    return 14;
}

/// Adapters on every linear layer: rank * (in + out) parameters each (arXiv 2106.09685, sec. 4.1).
double adapter_params(const workload::Model& m, int rank) {
    const double h = m.hidden;
    const double q = static_cast<double>(m.heads) * m.head_dim;
    const double kv = static_cast<double>(m.kv_heads) * m.head_dim;
    const double attention = (h + q) * 2 + (h + kv) * 2;
    const double mlp = (m.gated_mlp ? 3.0 : 2.0) * (h + m.ffn_hidden);
    return static_cast<double>(m.layers) * rank * (attention + mlp);
}

double bytes_per_token(const workload::Model& m, const Assumptions& a) {
    const double wide = a.number("data.bytes_per_token");
    return m.vocab > 0 && m.vocab <= 65536 ? wide / 2 : wide;
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
        adapters ? adapter_params(job.model, c.training.lora ? c.training.lora->rank : 16)
                 : work.params;
    const double each = checkpoint_bytes_per_param(c.training.optimizer);
    n.checkpoint = trained * each * kByte;
    n.final_weights = 2 * trained * kByte;
    n.checkpoint_basis = format_count(trained) +
                         (adapters ? " adapter parameters x " : " parameters x ") +
                         format_fixed(each, 0) + " B (bf16 weights, fp32 master, optimizer)";
    if (c.step > Seconds{}) {
        const double samples =
            c.training.global_batch *
            static_cast<double>(std::max(1, c.jobs_per_node * (job.copies > 1 ? c.nodes : 1)));
        n.data_rate = samples * sample_size(job, work, a) / c.step;
    }
    return n;
}

}  // namespace trainyard::plan
