#pragma once
// Matrix product time from its shape: tile and wave quantisation, k-loop fill, bandwidth roof.
// docs/model/gemm.md

#include "device.hpp"

namespace trainyard::perf {

/// (m x k) * (k x n), `batch` independent products in one kernel (batched or grouped GEMM).
struct Gemm {
    double m = 0, n = 0, k = 0;
    double batch = 1;
};

Seconds gemm_time(const Device& d, const Gemm& g);

/// Forward, input-gradient and weight-gradient products of one linear layer (tokens x in -> out).
struct LinearTime {
    Seconds forward, input_grad, weight_grad;
    Seconds backward() const { return input_grad + weight_grad; }
};
LinearTime linear_time(const Device& d, double tokens, double in, double out, double batch = 1);

}  // namespace trainyard::perf
