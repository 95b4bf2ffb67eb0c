#pragma once
// The Slurm job that ParallelCluster and PCS run: job.sbatch, what each node does (node.sh), what
// is to fill in (job.env) and, where nodes share no file system, how checkpoints travel to S3 and
// back (checkpoints.sh).

#include <string>
#include <string_view>
#include <vector>

#include "launch.hpp"
#include "storage.hpp"
#include "trainyard/render/names.hpp"
#include "trainyard/render/target.hpp"

namespace trainyard::render {

inline constexpr const char* kSlurmPartition = "train";
inline constexpr const char* kScratch = "/scratch";  ///< local disk of a node
inline constexpr const char* kLustre = "/fsx";       ///< shared file system, if the plan has one

struct SlurmJob {
    std::string name;
    Addresses at;
    Launch launch;
    std::vector<File> files;
};

/// Refused where the framework cannot express the mapping, or a name or address is not legal.
Result<SlurmJob> slurm_job(const Recipe& recipe, const Options& options, Target target,
                           const NameRule& name_rule);

/// What the README says on the job, in Markdown.
std::vector<std::string> slurm_notes(const Recipe& recipe, const SlurmJob& job);

}  // namespace trainyard::render
