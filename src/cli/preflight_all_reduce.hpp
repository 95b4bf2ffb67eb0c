#pragma once
// A short all-reduce on this machine, by whatever is there to make one: nccl-tests'
// all_reduce_perf, or PyTorch (NCCL on GPUs, Gloo without any).

#include <map>
#include <string>

#include "trainyard/agent/preflight.hpp"

namespace trainyard::cli {

/// data/preflight; generated at build time.
const std::map<std::string, std::string>& preflight_files();

/// Large enough for the links to be full, small enough for any GPU that may be in use.
inline constexpr Bytes kAllReduceSize = 256 * kMiB;

/// `accelerators`: GPUs of this machine, 0 if there is none. Ends within a minute.
agent::AllReduce measure_all_reduce(int accelerators, const std::string& python);

}  // namespace trainyard::cli
