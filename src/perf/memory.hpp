#pragma once
// Peak memory of the heaviest device, term by term, from what is alive at the peak.
// docs/model/memory.md

#include "data_parallel.hpp"
#include "device.hpp"
#include "trainyard/perf/predict.hpp"

namespace trainyard::perf {

/// Parameters a device of stage `index` holds before ZeRO.
StageParameters stage_parameters(const workload::Model& m, const workload::ParameterCount& count,
                                 const workload::Training& t, int index);

MemoryBreakdown memory_of(const workload::Model& m, const workload::ParameterCount& count,
                          const workload::Training& t, const catalog::Accelerator& a,
                          const Constants& constants, const Stack& stack);

}  // namespace trainyard::perf
