#pragma once
// The constants of the performance model: few, physical, each with a source
// (data/perf/constants.csv). Those with status `fitted` are reproduced by tools/fit_constants.py on
// the published runs.

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "trainyard/base/result.hpp"

namespace trainyard::perf {

/// Per accelerator architecture. Fractions are of the vendor's dense peak. What a table does not
/// give for an architecture is that of "default".
struct ArchitectureConstants {
    double gemm_fraction = 0.75;      ///< best tile, many waves, deep k
    double gemm_fraction_fp8 = 0.65;  ///< same, of the fp8 peak
    double gemm_fraction_fp4 = 0.50;
    double k_prologue = 128;            ///< elements of k that fill and drain a tile's pipeline
    double memory_fraction = 0.80;      ///< streaming kernels, of HBM bandwidth
    double flash_forward = 0.55;        ///< fused attention, of the bf16 peak, long sequences
    double flash_backward_ratio = 0.8;  ///< rate of its backward against forward
    double modern_attention_gain =
        1.0;  ///< FlashAttention-3 / cuDNN kernels against FlashAttention-2
    double unfused_attention_traffic =
        1.4;                      ///< bytes per score against one read and write of each tensor
    double link_fraction = 0.78;  ///< large-message bus bandwidth inside a node, of the link
};

/// Independent of the accelerator.
struct GlobalConstants {
    // GEMM
    double tile_128 = 0.92;          ///< efficiency of a 128x128 tile against 128x256
    double tile_64 = 0.75;           ///< 64x128
    double tile_32 = 0.55;           ///< 64x64
    double wave_quantisation = 0.6;  ///< 1 = whole waves only, 0 = perfectly divisible work
    double kernel_gap_us = 2.0;      ///< device idle between dependent kernels
    // Streaming kernels
    double eager_traffic = 1.8;  ///< bytes moved against perfect fusion
    double fused_traffic = 1.2;
    double compiled_traffic = 1.0;
    double eager_kernels = 1.6;  ///< kernels launched against the fused count
    double compiled_kernels = 0.7;
    double fp8_cast_traffic = 1.0;     ///< quantise-and-transpose passes per GEMM operand
    double flash_half_sequence = 350;  ///< sequence at which fused attention reaches half its peak
    // Host
    double host_us_per_kernel = 20.0;
    double checkpoint_host_us =
        600;                         ///< per layer: saving and restoring random state for recompute
    double collective_host_us = 50;  ///< CPU time to start one blocking collective
    double cross_socket_us =
        250;  ///< host-bound wait at a collective whose ranks sit on both CPU sockets
    double graph_us_per_kernel = 1.5;  ///< CUDA graphs or an ahead-of-time compiled step
    double step_overhead_ms = 4.0;     ///< loss scale, logging, data hand-over, optimizer launches
    double microbatch_overhead_ms =
        0.3;  ///< scheduler work per micro-batch with pipeline parallelism
    // Collectives
    double intra_latency_us = 3.5;   ///< per ring hop inside a node
    double inter_latency_us = 16;    ///< per hop across nodes
    double collective_base_us = 12;  ///< launch and synchronisation of one collective
    double inter_fraction = 0.80;    ///< of NIC bandwidth, RDMA fabrics
    double inter_fraction_large =
        0.3;  ///< loss of RDMA bandwidth per doubling of nodes above 16 (x 0.1)
    double tcp_fraction = 0.35;
    double omni_path_fraction = 0.15;  ///< several 100 Gbit/s Omni-Path ports without GPUDirect
    double half_message_mb = 1.5;  ///< message per rank and hop at half the bandwidth, across nodes
    double half_message_intra_mb = 0.3;  ///< the same inside a node
    double p2p_fraction = 0.6;
    double host_link_gb_per_s = 12;  ///< device to host memory and back, one accelerator
    // Overlap
    double bucket_overlap =
        0.5;  ///< share of the last backward that can hide bucketed gradient reduction
    double shard_overlap =
        0.85;  ///< share of a layer's compute that can hide FSDP gathers and reductions
    double tensor_overlap =
        0.4;  ///< share of TP traffic hidden where the stack tiles it into the GEMM
    double expert_overlap = 0.2;
    double context_overlap = 0.7;
    double pipeline_overlap = 0.5;
    double overlap_slowdown = 0.06;  ///< compute slowed while a collective runs
    // Work
    double optimizer_passes = 1.3;  ///< traffic of unscale, norm and clip against the bare update
    double expert_kernels =
        3;  ///< kernels per local expert and linear layer (grouped GEMM set-up, quantisation)
    double expert_imbalance = 1.1;  ///< busiest expert / mean
    double straggler = 0.006;       ///< relative jitter of one device's step
    // Memory
    double fragmentation = 0.04;
    double runtime_gb = 1.6;  ///< context, cuBLAS workspaces
    double nccl_gb_per_group = 0.35;
};

struct Constants {
    GlobalConstants global;
    std::map<std::string, ArchitectureConstants, std::less<>> architectures;
    const ArchitectureConstants& of(std::string_view architecture) const;
};

/// CSV: name,architecture,value,unit,status,source,as_of. Unknown names and non-finite values are
/// diagnostics.
Result<Constants> parse_constants(std::string_view csv, std::string_view file);
/// Names of all constants, "flash_forward.Ampere" style for architecture ones: for the fit tool and
/// the docs.
std::vector<std::string> constant_names();

}  // namespace trainyard::perf
