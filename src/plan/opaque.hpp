#pragma once
// Models of which only counts are known (ResNet-50): data parallel, and often fed too slowly rather
// than computed slowly. compute = 3 F / (peak * efficiency) per sample; the input pipeline gives
// vCPU * images/s, times a factor with GPU decoding. 6ND does not apply: a convolution reuses each
// weight at every position.

#include <optional>

#include "eligible.hpp"

namespace trainyard::plan {

struct InputPipeline {
    double device_samples_per_s = 0;  ///< what the accelerators could eat, whole cluster
    double cpu_samples_per_s = 0;     ///< what plain CPU decoding delivers
    double fed_samples_per_s = 0;     ///< with GPU decoding or pre-resized data
};
InputPipeline input_pipeline(const Candidate& c, const workload::Job& job, const Assumptions& a);

std::optional<Candidate> opaque_candidate(const Eligible& e, int nodes, const workload::Job& job,
                                          const Work& work, const perf::Cluster& cluster,
                                          const Assumptions& a);

}  // namespace trainyard::plan
