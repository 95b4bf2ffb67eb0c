#pragma once
// Round shapes and a round machine for the unit tests, so that expected numbers can be worked out
// by hand: 100 TFLOP/s, 1 TB/s, 100 multiprocessors, every efficiency 1, every latency 0.

#include "data_parallel.hpp"
#include "device.hpp"
#include "trainyard/perf/constants.hpp"
#include "trainyard/workload/model.hpp"
#include "trainyard/workload/training.hpp"

namespace trainyard::perf::test {

/// A GPT of the papers: learned positions, tied head, 4h MLP with GELU, one KV head per head.
inline workload::Model gpt(int layers, int hidden, int heads, int vocab = 51200) {
    workload::Model m;
    m.name = "gpt";
    m.layers = layers;
    m.hidden = hidden;
    m.heads = m.kv_heads = heads;
    m.head_dim = hidden / heads;
    m.ffn_hidden = 4 * hidden;
    m.vocab = vocab;
    m.max_positions = 8192;
    m.norm = workload::Norm::layer_norm;
    m.tied_embeddings = true;
    m.learned_positions = true;
    return m;
}

inline workload::Training training(int sequence, int micro_batch, int global_batch) {
    workload::Training t;
    t.sequence = sequence;
    t.micro_batch = micro_batch;
    t.global_batch = global_batch;
    return t;
}

inline catalog::Accelerator round_accelerator() {
    catalog::Accelerator a;
    a.id = "Round-80";
    a.architecture = "Round";
    a.memory = 80 * kGiB;
    a.memory_bandwidth = 1000 * kGBPerSecond;
    a.peak[static_cast<int>(catalog::Precision::bf16)] = 100.0 * kTFlopPerSecond;
    a.multiprocessors = 100;
    return a;
}

/// Every loss switched off; a test switches on the one it is about.
inline Constants ideal_constants() {
    Constants c;
    GlobalConstants& g = c.global;
    g.tile_128 = g.tile_64 = g.tile_32 = 1;
    g.wave_quantisation = 0;
    g.kernel_gap_us = g.host_us_per_kernel = g.checkpoint_host_us = g.cross_socket_us = 0;
    g.collective_host_us = 0;
    g.graph_us_per_kernel = g.step_overhead_ms = g.microbatch_overhead_ms = 0;
    g.eager_traffic = g.fused_traffic = g.compiled_traffic = 1;
    g.flash_half_sequence = 0;
    g.intra_latency_us = g.inter_latency_us = g.collective_base_us = 0;
    g.inter_fraction = g.p2p_fraction = 1;
    g.inter_fraction_large = g.half_message_mb = g.half_message_intra_mb = 0;
    g.overlap_slowdown = g.straggler = g.fragmentation = 0;
    g.optimizer_passes = g.expert_imbalance = 1;
    g.runtime_gb = g.nccl_gb_per_group = 0;
    ArchitectureConstants& a = c.architectures["Round"];
    a.gemm_fraction = a.memory_fraction = a.flash_forward = a.flash_backward_ratio = 1;
    a.unfused_attention_traffic = a.link_fraction = 1;
    a.k_prologue = 0;
    return c;
}

/// A stack with two-byte gradients and nothing hidden, as in the papers.
inline Stack plain_stack() {
    Stack s;
    s.name = "plain";
    s.fusion = Fusion::fused;
    s.data_overlap = false;
    return s;
}

}  // namespace trainyard::perf::test
