#pragma once
// One accelerator as the kernels see it: peaks, achieved fractions, launch costs. Built once per
// predictor.

#include "trainyard/base/units.hpp"
#include "trainyard/perf/constants.hpp"
#include "trainyard/perf/predict.hpp"
#include "trainyard/perf/stack.hpp"

namespace trainyard::perf {

struct Device {
    FlopPerSecond
        matmul_rate;  ///< peak of the GEMM precision x achieved fraction x stack efficiency
    FlopPerSecond
        attention_rate;  ///< bf16/fp16 peak x stack efficiency (fused kernels stay in 16 bit)
    FlopPerSecond vendor_peak;   ///< of the precision, for MFU
    BytesPerSecond memory_rate;  ///< achieved streaming rate
    double multiprocessors = 108;
    double element_bytes = 2;   ///< of activations
    double gradient_bytes = 2;  ///< of accumulated weight gradients
    bool fp8 = false;
    bool fused_experts = false;  ///< experts quantise and activate inside their products
    Seconds kernel_gap;
    Seconds host_per_kernel;
    double host_scale = 1;        ///< host work against an eager stack (CUDA graphs: small)
    Seconds moe_host_per_kernel;  ///< token counts change every step, so MoE layers launch eagerly
    double attention_gain = 1;
    double traffic = 1;  ///< bytes moved by streaming kernels against perfect fusion
    double kernels = 1;  ///< kernel count against the fused count
    const GlobalConstants* constants = nullptr;
    const ArchitectureConstants* arch = nullptr;
};

Device make_device(const catalog::Accelerator& a, catalog::Precision precision, const Stack& stack,
                   const Constants& constants);

}  // namespace trainyard::perf
