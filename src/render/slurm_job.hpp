#pragma once
// The Slurm job that ParallelCluster and PCS run: job.sbatch and what it reads.

#include <string_view>
#include <vector>

#include "trainyard/render/names.hpp"
#include "trainyard/render/target.hpp"

namespace trainyard::render {

inline constexpr const char* kSlurmPartition = "train";

Result<std::vector<File>> slurm_job(const Recipe& recipe, const Options& options, Target target,
                                    const std::string& name, const S3Address& checkpoint);

}  // namespace trainyard::render
