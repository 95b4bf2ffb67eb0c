#include "slurm_job.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "checkpoint_functions.hpp"
#include "data_mount.hpp"
#include "ledger.hpp"
#include "render_target.hpp"
#include "slurm_scripts.hpp"
#include "trainyard/base/text.hpp"
#include "trainyard/render/text.hpp"

namespace trainyard::render {

namespace {

/// A Capacity Block's instances end this long before its last hour is over
/// (https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/ec2-capacity-blocks.html), and the warning
/// has to come before that.
constexpr Seconds kBlockEndsEarly = 30 * kMinute;
constexpr Seconds kWarning = 2 * kMinute;

bool is_array(const Recipe& r) { return r.copies > 1; }
bool resumes(const Recipe& r) { return r.resume != workload::Resume::none; }

/// Waves of independent runs, one after another.
double waves(const Recipe& r) {
    return std::ceil(double{1} * r.copies / (double{1} * r.nodes * r.jobs_per_node));
}

/// "D-HH:MM:SS" of whole minutes, rounded up.
std::string slurm_time(Seconds t) {
    const auto minutes = static_cast<long>(std::ceil(t / kMinute));
    return fmt::format("{}-{:02}:{:02}:00", minutes / 1440, minutes / 60 % 24, minutes % 60);
}

/// The slow end of the plan's range; a Capacity Block cuts it. A run that is not done by then saves
/// and is queued again.
Seconds time_limit(const Recipe& r) {
    const Seconds one = is_array(r) ? r.wall.high / waves(r) : r.wall.high;
    const Seconds limit = std::max(one, 1 * kHour);
    if (!r.block_days) return limit;
    return std::min(limit, *r.block_days * kDay - kBlockEndsEarly - kWarning);
}

std::string head_lines(const Recipe& r, const SlurmJob& job) {
    std::string s;
    const auto add = [&s](const std::string& line) { s += "#SBATCH --" + line + "\n"; };
    add("job-name=" + job.name);
    add(std::string("partition=") + kSlurmPartition);
    const int devices = job.launch.ranks_per_node;
    if (is_array(r)) {
        add(fmt::format("array=1-{}%{}", r.copies, r.nodes * r.jobs_per_node));
        add("nodes=1");
    } else {
        add(fmt::format("nodes={}", r.nodes));
    }
    add("ntasks-per-node=1");
    if (is_array(r) && r.jobs_per_node > 1) {
        add(fmt::format("cpus-per-task={}", std::max(1, r.instance.vcpu / r.jobs_per_node)));
    } else {
        add("exclusive");
    }
    if (r.accelerator.vendor == "NVIDIA") add(fmt::format("gpus-per-node={}", devices));
    add("time=" + slurm_time(time_limit(r)));
    add(resumes(r) ? "requeue" : "no-requeue");
    if (resumes(r)) add(fmt::format("signal=B:USR1@{:.0f}", kWarning / kSecond));
    add("open-mode=append");
    add(is_array(r) ? "output=%x-%A_%a.log" : "output=%x-%j.log");
    return s;
}

std::string data_place(const Recipe& r) {
    if (r.data_place == DataPlace::lustre) return std::string(kLustre) + "/data";
    return r.data_place == DataPlace::local_nvme ? std::string(kScratch) + "/data" : kDataMount;
}

/// A directory for each copy: the array's number is known only when the job runs.
std::string checkpoint_place(const Recipe& r, const std::string& name) {
    const std::string root = r.lustre ? kLustre : kScratch;
    return root + "/checkpoints/" + name;
}

std::string job_env(const Recipe& r, const SlurmJob& job, Target target) {
    std::string s = head_comment("#", r, target);
    s += "# Sourced by job.sbatch, node.sh and checkpoints.sh: what is yours to fill in.\n\n";
    s += "DATA_S3=" + shell_word(job.at.data.text()) + "\n";
    s += "CHECKPOINT_S3=" + shell_word(job.at.checkpoint.text()) + "\n";
    s += "DATA_DIR=" + shell_word(data_place(r)) + "\n";
    s += "CHECKPOINT_DIR=" + shell_word(checkpoint_place(r, job.name)) + "\n";
    if (resumes(r) && !r.lustre)
        s += fmt::format("QUIET_SECONDS=60\nKEEP_STEPS={}\n", kept_checkpoints());
    s +=
        "# Commands that make the framework's environment, for example: source venv/bin/activate\n";
    s += "prepare() { :; }\n";
    s += "# Arguments that the plan does not decide: learning rate, tokenizer, data files.\n";
    s += "EXTRA_ARGUMENTS=()\n";
    const auto variables = environment(r, job.launch.framework);
    if (variables.empty())
        s += "\n# NCCL, EFA: the defaults are right on " + r.instance.family + ".\n";
    for (const EnvVariable& e : variables) {
        s += "\n" +
             comment("#", e.why + " (from " + e.needs + "; " + e.source + ", " + e.as_of + ")");
        s += "export " + e.name + "=" + shell_word(e.value) + "\n";
    }
    return s;
}

}  // namespace

Result<SlurmJob> slurm_job(const Recipe& recipe, const Options& options, Target target,
                           const NameRule& name_rule) {
    auto name = job_name(name_rule, recipe, options);
    if (!name) return name.error();
    auto at = run_addresses(options, *name);
    if (!at) return at.error();
    const Framework framework = options.framework.value_or(default_framework(recipe));
    // node.sh knows these directories; a word that begins with '$' would be quoted.
    auto launch = training_command(recipe, framework, {kDataWord, kCheckpointWord, kConfigWord});
    if (!launch) return launch.error();
    SlurmJob job{*name, *at, *std::move(launch), {}};
    const ScriptParts parts{.is_array = is_array(recipe),
                            .is_gang = recipe.is_gang(),
                            .resumes = resumes(recipe),
                            .saves_on_notice = !job.launch.notice.empty(),
                            .is_spot = recipe.purchase == Purchase::spot,
                            .stages_data = recipe.data_place == DataPlace::local_nvme,
                            .shares_files = recipe.lustre.has_value()};
    const std::string head = head_comment("#", recipe, target);
    job.files = job.launch.files;
    job.files.push_back(
        {"job.sbatch", "#!/bin/bash\n" + head + head_lines(recipe, job) + job_script(parts), true});
    job.files.push_back({"node.sh", "#!/bin/bash\n" + head + node_script(parts, job.launch), true});
    job.files.push_back({"job.env", job_env(recipe, job, target)});
    if (parts.resumes && !parts.shares_files)
        job.files.push_back(
            {"checkpoints.sh", "#!/bin/bash\n" + head + checkpoint_script(framework), true});
    return job;
}

std::vector<std::string> slurm_notes(const Recipe& r, const SlurmJob& job) {
    std::vector<std::string> notes;
    if (resumes(r)) {
        const std::string when =
            r.purchase == Purchase::spot ? " and when EC2 announces an interruption" : "";
        if (job.launch.notice.empty()) {
            notes.push_back("The framework does not save on a signal: before the time limit" +
                            when +
                            " the step ends, the job is queued again and resumes from the last "
                            "checkpoint.");
        } else {
            notes.push_back(
                fmt::format("On SIG{} a rank has {:.0f} s to save and to end with status 0; the "
                            "job is then queued "
                            "again and resumes. The signal comes before the time limit{}. A job "
                            "that fails is not "
                            "queued again; one that loses a node is.",
                            job.launch.notice, kWarning / kSecond, when));
        }
    } else {
        notes.push_back("The plan says that the code cannot resume: nothing is queued again.");
    }
    if (resumes(r) && !r.lustre) {
        notes.push_back(
            "Nodes share no file system for checkpoints: `checkpoints.sh` sends each node's part "
            "of "
            "a finished step to S3 and marks it; a start takes the newest step that every node "
            "marked. A step is a subdirectory of the checkpoint directory that no longer changes.");
    }
    if (r.block_days) {
        notes.push_back(
            "The time limit ends with the Capacity Block: a run that needs longer saves "
            "first and waits in the queue.");
    }
    for (const std::string& e : job.launch.expects) notes.push_back(e);
    return notes;
}

}  // namespace trainyard::render
