#pragma once
// Step time and memory of one training configuration on one homogeneous cluster: an analytical
// model, one file and one docs/model/ page per term. Pure and deterministic; no I/O.

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trainyard/base/result.hpp"
#include "trainyard/base/units.hpp"
#include "trainyard/catalog/catalog.hpp"
#include "trainyard/workload/training.hpp"

namespace trainyard::perf {

/// What joins nodes. Bandwidth is per node, one direction.
enum class Fabric { none, efa, infiniband, ethernet_rdma, omni_path, tcp };
struct Interconnect {
    Fabric fabric = Fabric::none;
    BytesPerSecond per_node;
};

/// Identical nodes of identical accelerators.
struct Cluster {
    const catalog::Accelerator* accelerator = nullptr;
    int accelerators = 1;           ///< chips in all
    int accelerators_per_node = 1;  ///< chips that share the intra-node link
    catalog::LinkKind intra_link = catalog::LinkKind::none;
    BytesPerSecond intra_bandwidth;  ///< one direction, per accelerator
    Interconnect inter;
    int nodes() const { return (accelerators + accelerators_per_node - 1) / accelerators_per_node; }
};

/// Where the time of one optimizer step goes. Exposed = not hidden behind compute. Sums to `total`
/// exactly.
struct StepBreakdown {
    Seconds gemm;           ///< matrix products of the busiest pipeline stage, all micro-batches
    Seconds attention;      ///< score and value products with their softmax
    Seconds memory_bound;   ///< norms, activations, residuals, dropout, rotary embedding
    Seconds head_loss;      ///< logits and cross entropy
    Seconds recompute;      ///< forward work done again in backward
    Seconds launch;         ///< device idle because the host cannot launch kernels fast enough
    Seconds tensor_comm;    ///< exposed
    Seconds expert_comm;    ///< exposed all-to-all
    Seconds context_comm;   ///< exposed
    Seconds pipeline_comm;  ///< exposed
    Seconds pipeline_bubble;
    Seconds data_comm;  ///< exposed gradient reduction and weight gathering
    Seconds optimizer;
    Seconds straggler;  ///< waiting for the slowest of many devices
    Seconds total;
};

/// Peak bytes on the device with the most, by what is alive at that moment.
struct MemoryBreakdown {
    Bytes weights;
    Bytes gradients;
    Bytes optimizer;    ///< moments and fp32 master copy
    Bytes activations;  ///< kept for backward, all micro-batches in flight on the heaviest stage
    Bytes logits;
    Bytes offloaded;  ///< layer inputs in host memory; not in the total
    Bytes gathered;   ///< ZeRO-3/FSDP units gathered at once, communication buckets
    Bytes workspace;  ///< temporaries of the layer in flight
    Bytes fragmentation;
    Bytes runtime;  ///< CUDA/Neuron context, cuBLAS, NCCL buffers
    Bytes total;
    Bytes capacity;  ///< usable on this device
    int stage = 0;   ///< pipeline stage that is heaviest
    /// What must be there; the allocator gives cached, fragmented blocks back before it fails.
    Bytes needed() const { return total - fragmentation; }
    bool fits() const { return needed() <= capacity; }
    /// Room for the fragmentation too: what a plan should ask for.
    bool fits_with_headroom() const { return total <= capacity; }
    std::string_view largest() const;  ///< name of the largest term
};

struct Prediction {
    StepBreakdown step;
    MemoryBreakdown memory;
    Flop model_flop;  ///< per step, all devices, forward + backward without recomputation (causal:
                      ///< half the scores)
    Flop model_flop_full;  ///< the same counting the full score matrix (PaLM / Megatron convention)
    Flop hardware_flop;    ///< with recomputation
    TokensPerSecond tokens_per_second;  ///< whole cluster
    double mfu = 0;  ///< model_flop_full per second / (devices * vendor peak of the precision)
    double communication_share = 0;  ///< exposed communication / step
    double bubble_share = 0;
    std::vector<std::string> notes;  ///< assumptions made for inputs that were unknown
};

/// The fitted and cited constants of the model (data/perf/*.csv). Opaque here; see
/// perf/constants.hpp.
struct Constants;
const Constants& default_constants();

/// Fast repeated prediction on one accelerator: per-layer costs are memoised on (TP, CP, EP,
/// micro-batch, …). Not thread-safe; make one per thread.
class Predictor {
  public:
    Predictor(const workload::Model& model, const Cluster& cluster,
              const Constants& constants = default_constants());
    ~Predictor();
    Predictor(Predictor&&) noexcept;
    Predictor& operator=(Predictor&&) noexcept;

    /// Same model, accelerator and fabric, another size. Layer times are kept as long as the
    /// network between two devices stays the same (up to 16 nodes).
    void resize(int accelerators);
    /// Precondition: workload::check_mapping(model, t) is empty and t.parallel.devices() ==
    /// cluster.accelerators.
    Prediction predict(const workload::Training& t);
    /// Memory only: cheaper, for pruning.
    MemoryBreakdown memory(const workload::Training& t);
    /// A cheap bound: no configuration with this training can step faster (pure math at achievable
    /// peak, no communication).
    Seconds lower_bound(const workload::Training& t);

  private:
    struct State;
    std::unique_ptr<State> state_;
};

/// Checks the mapping laws, then predicts. Broken laws come back as diagnostics with the fix.
Result<Prediction> predict(const workload::Model& model, const workload::Training& t,
                           const Cluster& cluster,
                           const Constants& constants = default_constants());

/// A cluster of `nodes` instances of the type; the fabric follows from the instance (EFA if it has
/// it, else TCP). nullopt-like error if the instance has no accelerator or an unknown bandwidth
/// that the model needs.
Result<Cluster> cluster_of(const catalog::Catalog& catalog, const catalog::Instance& instance,
                           int nodes);
/// The same nodes over TCP on their first network card: IP addresses are usually on that one only.
Interconnect first_card_tcp(const Cluster& cluster, const catalog::Instance& instance);

/// A Neuron mapping counts cores, two a chip; the model's device is the chip. Halves TP, or DP with
/// twice the micro-batch, if the mapping has twice as many devices as there are chips; otherwise
/// returns it unchanged.
workload::Training merge_neuron_cores(workload::Training t, int chips);

/// Multiply a predicted step time by these for an 80 % interval; width from the validation
/// residuals on published runs.
struct ErrorBand {
    double low = 1;
    double high = 1;
    std::string basis;  ///< "1,613 runs on A100-80" or "no measured run on this accelerator: pooled
                        ///< residuals, widened"
};
ErrorBand error_band(std::string_view accelerator_id);

/// What makes a run harder to predict than the dense, tuned runs that most bands come from.
struct RunKind {
    bool experts = false;   ///< a mixture of experts
    bool everyday = false;  ///< an everyday framework (`is_everyday`)
};
/// The accelerator's band, each end at least as wide as the published runs of that kind had it, on
/// whatever accelerator they ran.
ErrorBand error_band(std::string_view accelerator_id, const RunKind& kind);
/// The same for a model on a software stack; an unknown stack counts as tuned.
ErrorBand error_band(const catalog::Accelerator& accelerator, const workload::Model& model,
                     std::string_view stack);

}  // namespace trainyard::perf
