#pragma once
// How a model is trained: method, optimizer, precision, batch and the mapping onto devices.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trainyard/base/result.hpp"
#include "trainyard/base/units.hpp"
#include "trainyard/catalog/catalog.hpp"
#include "trainyard/workload/model.hpp"

namespace trainyard::workload {

enum class Method { pretrain, full_finetune, lora, qlora };
enum class Optimizer { adamw_fp32, adamw_bf16, adamw_8bit, adafactor, sgd, muon };
enum class Recompute { none, selective, full };
/// What data-parallel replicas shard: nothing, optimizer states, + gradients, + weights (FSDP full
/// shard).
enum class Zero { none, optimizer, gradients, weights };
enum class AttentionKernel { flash, unfused };

std::string_view to_string(Method m);
std::string_view to_string(Optimizer o);
std::string_view to_string(Recompute r);
std::string_view to_string(Zero z);
std::string_view to_string(AttentionKernel a);
std::optional<Method> parse_method(std::string_view s);
std::optional<Optimizer> parse_optimizer(std::string_view s);
std::optional<Recompute> parse_recompute(std::string_view s);
std::optional<Zero> parse_zero(std::string_view s);  ///< "0".."3", "zero-3", "fsdp", "none"

struct Lora {
    int rank = 16;
    bool train_embeddings = false;  ///< embedding and head trained in full beside the adapters
};

/// Degrees multiply: devices = tensor * pipeline * context * data. Expert parallelism lives inside
/// data * context.
struct Parallelism {
    int data = 1;
    int tensor = 1;
    int pipeline = 1;
    int virtual_stages = 1;  ///< chunks per pipeline rank (interleaved 1F1B)
    int context = 1;
    int expert = 1;
    int expert_tensor = 1;           ///< TP degree inside experts
    bool sequence_parallel = false;  ///< Megatron: shard norm/dropout activations over the TP group
    Zero zero = Zero::none;
    int shard_group = 0;  ///< ranks a ZeRO/FSDP shard spans; 0 = the whole data-parallel group
                          ///< (hybrid sharding otherwise)
    int devices() const { return data * tensor * pipeline * context; }
};

/// Everything that fixes one training step, apart from the hardware.
struct Training {
    Method method = Method::pretrain;
    Optimizer optimizer = Optimizer::adamw_fp32;
    catalog::Precision precision = catalog::Precision::bf16;
    Recompute recompute = Recompute::none;
    AttentionKernel attention = AttentionKernel::flash;
    std::optional<Lora> lora;
    int sequence = 0;      ///< tokens
    int micro_batch = 1;   ///< sequences per device and pass
    int global_batch = 1;  ///< sequences per optimizer step over all devices
    Parallelism parallel;
    bool kv_replication =
        false;  ///< the stack copies KV heads when TP exceeds them (NeuronX Distributed does)
    bool offload_layer_inputs =
        false;          ///< full recomputation keeps the inputs of its layers in host memory
    std::string stack;  ///< name of a software stack profile (data/perf/stacks.csv); empty = the
                        ///< default, tuned
    /// Precondition: check_mapping is empty, so the division is exact.
    int micro_batches() const { return global_batch / (micro_batch * parallel.data); }
};

/// One broken law, with the fix: "TP 8 does not divide 2 KV heads" / "use TP 1 or 2".
struct Violation {
    std::string rule;  ///< stable id: "tp-kv-heads"
    std::string what;
    std::string fix;
};
/// Every law a mapping must obey (divisibility, products, ranges), in the order of
/// docs/reference/run.md. Empty = legal. Laws are what real frameworks refuse; what is merely
/// unwise (fewer micro-batches than stages) is legal.
std::vector<Violation> check_mapping(const Model& m, const Training& t);
/// The same laws without building text, for the search's inner loop: no allocation, a few tens of
/// nanoseconds.
bool is_legal_mapping(const Model& m, const Training& t);
/// A law in words, for people who ask why.
struct MappingLaw {
    std::string_view id;  ///< as in Violation::rule
    std::string_view law;
    std::string_view reason;
    std::string_view source;
};
/// All of them, in the order of mapping_rules().
const std::vector<MappingLaw>& mapping_laws();
/// The stable ids of all laws, in order.
const std::vector<std::string_view>& mapping_rules();

}  // namespace trainyard::workload
