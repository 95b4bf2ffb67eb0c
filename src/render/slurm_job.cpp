#include "slurm_job.hpp"

#include <fmt/format.h>

#include "launch.hpp"
#include "ledger.hpp"
#include "render_target.hpp"
#include "trainyard/render/text.hpp"

namespace trainyard::render {

Result<std::vector<File>> slurm_job(const Recipe& recipe, const Options& options, Target target,
                                    const std::string& name, const S3Address& /*checkpoint*/) {
    const Framework framework = options.framework.value_or(default_framework(recipe));
    auto launch =
        training_command(recipe, framework, {"/scratch/data", "/scratch/checkpoints", "."});
    if (!launch) return launch.error();
    std::string s = "#!/bin/bash\n" + head_comment("#", recipe, target);
    s += fmt::format(
        "#SBATCH --job-name={}\n#SBATCH --partition={}\n#SBATCH --nodes={}\n"
        "#SBATCH --ntasks-per-node=1\n#SBATCH --exclusive\n#SBATCH --requeue\n"
        "#SBATCH --open-mode=append\n#SBATCH --signal=B:USR1@120\nset -euo pipefail\n\n",
        name, kSlurmPartition, recipe.nodes);
    for (const EnvVariable& e : environment(recipe, framework)) {
        s += comment("#", e.why + " (" + e.needs + ")");
        s += "export " + e.name + "=" + shell_word(e.value) + "\n";
    }
    s += "head=$(scontrol show hostnames \"$SLURM_JOB_NODELIST\" | head -n 1)\n";
    s += fmt::format(
        "srun --kill-on-bad-exit=1 torchrun --nnodes=\"$SLURM_NNODES\" --nproc-per-node={} "
        "--rdzv-backend=c10d --rdzv-id=\"$SLURM_JOB_ID\" --rdzv-endpoint=\"$head:29500\" {}\n",
        launch->ranks_per_node, shell_words(launch->program));
    std::vector<File> files = std::move(launch->files);
    files.push_back({"job.sbatch", std::move(s), true});
    return files;
}

}  // namespace trainyard::render
