#include "device.hpp"

#include <algorithm>

#include "trainyard/base/contract.hpp"

namespace trainyard::perf {

namespace {

FlopPerSecond peak_or_fallback(const catalog::Accelerator& a, catalog::Precision p) {
    using catalog::Precision;
    // A precision that the device lacks runs at the widest one below it (fp8 on A100 is emulated:
    // bf16 rate).
    const Precision order[] = {p, Precision::bf16, Precision::fp16, Precision::tf32,
                               Precision::fp32};
    for (const Precision candidate : order) {
        if (const auto v = a.peak_for(candidate)) return *v;
    }
    return 1.0 * kTFlopPerSecond;
}

double fraction_of(const ArchitectureConstants& arch, const catalog::Accelerator& a,
                   catalog::Precision p) {
    if (p == catalog::Precision::fp8 && a.peak_for(p)) return arch.gemm_fraction_fp8;
    if (p == catalog::Precision::fp4 && a.peak_for(p)) return arch.gemm_fraction_fp4;
    return arch.gemm_fraction;
}

}  // namespace

Device make_device(const catalog::Accelerator& a, catalog::Precision precision, const Stack& stack,
                   const Constants& constants) {
    const GlobalConstants& c = constants.global;
    Device d;
    d.constants = &constants.global;
    d.arch = &constants.of(a.architecture);
    d.vendor_peak = peak_or_fallback(a, precision);
    d.matmul_rate = d.vendor_peak * fraction_of(*d.arch, a, precision) * stack.efficiency;
    // 8- and 4-bit training keeps attention in 16 bit; 32-bit training runs it at its own peak.
    const bool wide =
        precision == catalog::Precision::fp32 || precision == catalog::Precision::tf32;
    d.attention_rate =
        (wide ? d.vendor_peak : peak_or_fallback(a, catalog::Precision::bf16)) * stack.efficiency;
    d.memory_rate = a.memory_bandwidth * d.arch->memory_fraction * stack.efficiency;
    d.multiprocessors = std::max(1, a.multiprocessors.value_or(100));
    d.fp8 = precision == catalog::Precision::fp8 || precision == catalog::Precision::fp4;
    d.fused_experts = stack.fused_experts && d.fp8 && a.architecture.starts_with("Blackwell");
    d.element_bytes = wide ? 4 : 2;
    d.gradient_bytes = std::max<double>(stack.gradient_bytes, d.element_bytes);
    const bool graphs = stack.host == HostMode::graphs;
    d.kernel_gap = (graphs ? std::min(c.kernel_gap_us, c.graph_us_per_kernel) : c.kernel_gap_us) *
                   kMicrosecond;
    d.host_scale = (graphs ? c.graph_us_per_kernel / c.host_us_per_kernel : 1) / stack.efficiency;
    d.host_per_kernel =
        (graphs ? c.graph_us_per_kernel : c.host_us_per_kernel) * kMicrosecond / stack.efficiency;
    d.moe_host_per_kernel = stack.moe_graphs
                                ? d.host_per_kernel
                                : c.host_us_per_kernel * kMicrosecond / stack.efficiency;
    d.attention_gain = stack.hopper_attention ? d.arch->modern_attention_gain : 1;
    switch (stack.fusion) {
        case Fusion::eager:
            d.traffic = c.eager_traffic;
            d.kernels = c.eager_kernels;
            break;
        case Fusion::fused:
            d.traffic = c.fused_traffic;
            d.kernels = 1;
            break;
        case Fusion::compiled:
            d.traffic = c.compiled_traffic;
            d.kernels = c.compiled_kernels;
            break;
    }
    TRAINYARD_ASSERT(d.matmul_rate.base() > 0 && d.memory_rate.base() > 0,
                     "the catalog gives positive rates");
    return d;
}

}  // namespace trainyard::perf
