#pragma once
// Software stacks: what a framework fuses, overlaps and compiles. Facts from its documentation, not
// fits, except `efficiency`, one number per everyday (stock) framework (data/perf/stacks.csv).

#include <string>
#include <string_view>
#include <vector>

#include "trainyard/base/result.hpp"
#include "trainyard/catalog/catalog.hpp"
#include "trainyard/workload/training.hpp"

namespace trainyard::perf {

enum class Fusion { eager, fused, compiled };
enum class HostMode { eager, graphs };
/// Where a stack hides an exchange behind compute.
enum class Overlap { none, across_nodes, always };

struct Stack {
    std::string name;
    std::string framework_prefix;  ///< matches the `framework` column of runs CSVs
    workload::AttentionKernel attention = workload::AttentionKernel::flash;
    bool hopper_attention =
        false;  ///< FlashAttention-3 / cuDNN kernels where the architecture has them
    double selective_gemm =
        0;  ///< share of GEMMs that its selective recompute repeats (0: attention core only)
    bool moe_graphs = false;  ///< MoE layers captured in CUDA graphs too (needs fixed token counts)
    Fusion fusion = Fusion::fused;
    HostMode host = HostMode::eager;
    bool data_overlap = true;  ///< gradient reduction and weight gathering run under compute
    bool expert_once_per_node =
        false;  ///< dispatch sends a token to a node once (DeepEP, HybridEP)
    Overlap expert_overlap = Overlap::none;  ///< all-to-all under the experts of another chunk
    bool fused_experts = false;  ///< on Blackwell in 8 and 4 bit: activation and quantisation
                                 ///< inside the grouped products of the experts
    double step_overhead_ms =
        0;  ///< host work per step beyond launches (lazy tracing); 0 = the global constant
    bool tensor_overlap = false;         ///< TP collectives tiled into GEMMs (userbuffers)
    bool pipeline_overlap = false;       ///< sends double-buffered behind compute
    bool distributed_optimizer = false;  ///< default ZeRO stage 1 where the run does not say
    bool sequence_parallel = false;      ///< default where the run does not say and TP > 1
    int bf16_gradient_extra_bytes =
        0;  ///< fp32 accumulation buffers beside the 16-bit gradients (bf16 runs)
    double logit_bytes =
        10;  ///< per logit at the loss: 16-bit logits, fp32 copy and gradient; 4 if fused
    double optimizer_temporary_bytes =
        0;                    ///< per updated parameter, alive only during the optimizer step
    int gradient_bytes = 2;   ///< dtype of the reduced gradients
    double efficiency = 1.0;  ///< device throughput against a tuned stack
    std::string source;
};

const std::vector<Stack>& stacks();
const Stack& default_stack();
/// What a run that names no stack uses on this accelerator: `neuron` on AWS chips, else the
/// default.
const Stack& default_stack_of(const catalog::Accelerator& accelerator);
/// By name; nullptr if unknown.
const Stack* find_stack(std::string_view name);
/// Nobody tuned it: its kernels are not fused, or its rate had to be fitted. Ranges are wider.
bool is_everyday(const Stack& stack);
/// Longest framework_prefix that matches; nullptr if none.
const Stack* stack_of_framework(std::string_view framework);
Result<std::vector<Stack>> parse_stacks(std::string_view csv, std::string_view file);

}  // namespace trainyard::perf
