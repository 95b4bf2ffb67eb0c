#include "slurm_scripts.hpp"

#include <fmt/format.h>

#include "checkpoint_functions.hpp"
#include "trainyard/render/text.hpp"

namespace trainyard::render {

namespace {

constexpr std::string_view kJobStart = R"sh(
# Slurm runs a copy of this file: its neighbours are where sbatch was called.
set -euo pipefail
here=$SLURM_SUBMIT_DIR
source "$here/job.env"
read -r HEAD_NODE < <(scontrol show hostnames "$SLURM_JOB_NODELIST")
export HEAD_NODE
# All of the node's CPUs: without this some versions of Slurm bind the launcher to one core.
run=(srun --kill-on-bad-exit=1 --cpu-bind=none)
[ -z "${SLURM_CPUS_PER_TASK:-}" ] || run+=("--cpus-per-task=$SLURM_CPUS_PER_TASK")
)sh";

constexpr std::string_view kNotice = R"sh(
# The warning goes to the ranks, which save and end; after that the job is queued again.
notice=0
step=
on_notice() {
    notice=1
    echo "$(date -u +%FT%TZ) warning: the ranks save and end"
    if [ -n "$step" ]; then kill -USR1 "$step" 2>/dev/null || true; fi
}
trap on_notice USR1
)sh";

constexpr std::string_view kFetch = R"sh(
"${run[@]}" "$here/node.sh" fetch "$here"
)sh";

constexpr std::string_view kPlainRun = R"sh(
"${run[@]}" "$here/node.sh" train "$here"
)sh";

constexpr std::string_view kRun = R"sh(
if [ "$notice" = 0 ]; then
    "${run[@]}" "$here/node.sh" train "$here" &
    step=$!
    [ "$notice" = 0 ] || kill -USR1 "$step" # it came in this very moment
fi
status=0
while [ -n "$step" ]; do
    wait "$step" && status=0 || status=$?
    # 138 = 128 + SIGUSR1: the trap ended the wait, the step goes on.
    [ "$status" -eq 138 ] || break
done
)sh";

constexpr std::string_view kRequeue = R"sh(
if [ "$notice" = 1 ]; then
    echo "$(date -u +%FT%TZ) queued again, start $((${SLURM_RESTART_COUNT:-0} + 2)) follows"
    scontrol requeue "$SLURM_JOB_ID"
fi
exit "$status"
)sh";

constexpr std::string_view kNodeStart = R"sh(
# What one node does: node.sh fetch|train DIRECTORY
set -euo pipefail
here=$2
source "$here/job.env"
cd "$here"
)sh";

constexpr std::string_view kFetchData = R"sh(
    mkdir -p "$DATA_DIR"
    # Locked: several jobs of an array may start on one node.
    flock "$DATA_DIR/.lock" aws s3 sync --only-show-errors "$DATA_S3" "$DATA_DIR"
)sh";

constexpr std::string_view kWatchSpot = R"sh(
# EC2 announces a spot interruption two minutes ahead, on the node alone (IMDSv2).
watch_spot() {
    local url=http://169.254.169.254/latest token
    while sleep 5; do
        token=$(curl -sf -m 2 -X PUT -H 'X-aws-ec2-metadata-token-ttl-seconds: 60' \
            "$url/api/token") || continue
        curl -sf -m 2 -o /dev/null -H "X-aws-ec2-metadata-token: $token" \
            "$url/meta-data/spot/instance-action" || continue
        echo "$(date -u +%FT%TZ) $SLURMD_NODENAME: EC2 takes this spot instance"
        scancel --batch --signal=USR1 "$SLURM_JOB_ID"
        return
    done
}
)sh";

constexpr std::string_view kIgnore = R"sh(
# srun hands the warning to every process of the step. Ignored here and, since that is inherited,
# by the launcher; a rank that saves on it installs its own handler.
trap '' USR1
)sh";

/// Megatron-LM knows SIGTERM only: the launcher's children get that instead.
constexpr std::string_view kTranslate = R"sh(
# The ranks save on SIGTERM: they, and not the launcher, get it in place of SIGUSR1.
trap 'pkill -TERM -P "$launcher" || true' USR1
)sh";

constexpr std::string_view kWaitTranslated = R"sh(
status=0
while true; do
    wait "$launcher" && status=0 || status=$?
    [ "$status" -eq 138 ] || break
done
)sh";

constexpr std::string_view kCheckpoints = R"sh(
# Checkpoints between this node and S3: checkpoints.sh pull|push|watch DIRECTORY
#   pull   the newest step that every node marked as sent, its parts of all nodes
#   push   what this node has not yet sent
#   watch  push what is finished, for ever
set -euo pipefail
source "$2/job.env"
nodes=${SLURM_NNODES:-1}
node=${SLURM_NODEID:-0}
if [ -n "${SLURM_ARRAY_TASK_ID:-}" ]; then
    CHECKPOINT_S3+=/$SLURM_ARRAY_TASK_ID
    CHECKPOINT_DIR+=/$SLURM_ARRAY_TASK_ID
fi
)sh";

constexpr std::string_view kCheckpointCommand = R"sh(
case $1 in
    pull) pull ;;
    push) push all ;;
    watch) watch ;;
    *) echo "checkpoints.sh: unknown: $1" >&2; exit 2 ;;
esac
)sh";

/// The words, with node.sh's directories where the launch named them.
std::string program_words(const Launch& launch) {
    std::string s;
    std::size_t column = 0;
    for (const std::string& word : launch.program) {
        std::string out = shell_word(word);
        for (const auto& [mark, name] :
             {std::pair{kDataWord, "$DATA_DIR"}, std::pair{kCheckpointWord, "$CHECKPOINT_DIR"},
              std::pair{kConfigWord, "$here"}}) {
            const std::size_t at = word.find(mark);
            if (at == std::string::npos) continue;
            const std::string rest = word.substr(at + std::string_view(mark).size());
            out = (at > 0 ? shell_word(word.substr(0, at)) : "") + "\"" + name + "\"" +
                  (rest.empty() ? "" : shell_word(rest));
        }
        // An option keeps its value on its line.
        const bool breaks = column > 60 && (word.starts_with("-") || word.find('=') < word.size());
        s += (breaks ? " \\\n    " : " ") + out;
        column = (breaks ? 0 : column) + out.size() + 1;
    }
    return s;
}

std::string torchrun(const ScriptParts& parts, const Launch& launch) {
    std::string s = "torchrun";
    if (parts.is_gang) {
        s += " --nnodes=\"$SLURM_NNODES\" --nproc-per-node=" +
             std::to_string(launch.ranks_per_node) +
             " \\\n    --rdzv-backend=c10d --rdzv-id=\"$SLURM_JOB_ID.${SLURM_RESTART_COUNT:-0}\" "
             "\\\n    --rdzv-endpoint=\"$HEAD_NODE:29500\" --max-restarts=0";
    } else {
        s += " --standalone --nproc-per-node=" + std::to_string(launch.ranks_per_node) +
             " --max-restarts=0";
    }
    s += " \\\n   " + program_words(launch);
    return s + " \\\n    \"${EXTRA_ARGUMENTS[@]}\"";
}

/// The part of node.sh that runs before the ranks start on any node.
std::string fetch_part(const ScriptParts& parts, bool travels) {
    std::string s = "mkdir -p \"$CHECKPOINT_DIR\"\n\nif [ \"$1\" = fetch ]; then";
    if (parts.stages_data) s += kFetchData;
    if (travels)
        s += std::string(parts.stages_data ? "" : "\n") +
             "    \"$here/checkpoints.sh\" pull \"$here\"\n";
    if (!parts.stages_data && !travels) s += "\n    :\n";
    return s + "    exit\nfi\nprepare\n";
}

std::string helpers_part(const ScriptParts& parts, bool travels) {
    const bool watches = parts.resumes && parts.is_spot;
    std::string s = watches ? std::string(kWatchSpot) : "";
    if (!watches && !travels) return s + "\n";
    s += "\nhelpers=()\n";
    if (watches) s += "watch_spot &\nhelpers+=($!)\n";
    if (travels) s += "\"$here/checkpoints.sh\" watch \"$here\" &\nhelpers+=($!)\n";
    return s + "trap 'kill \"${helpers[@]}\" 2>/dev/null || true' EXIT\n\n";
}

}  // namespace

std::string job_script(const ScriptParts& parts) {
    std::string s(kJobStart);
    if (!parts.resumes) {
        if (parts.stages_data) s += kFetch;
        return s + std::string(kPlainRun);
    }
    s += kNotice;
    if (parts.stages_data || !parts.shares_files) s += kFetch;
    s += std::string(kRun) + std::string(kRequeue);
    if (!parts.saves_on_notice) {
        constexpr std::string_view kSaves = "the ranks save and end";
        s.replace(s.find(kSaves), kSaves.size(), "the step ends");
        constexpr std::string_view kWarns =
            "# The warning goes to the ranks, which save and end; after that";
        s.replace(s.find(kWarns), kWarns.size(),
                  "# This framework does not save on a signal: the step ends, then");
        for (std::size_t at = s.find("kill -USR1"); at != std::string::npos;
             at = s.find("kill -USR1"))
            s.replace(at, 10, "kill -TERM");
    }
    return s;
}

std::string node_script(const ScriptParts& parts, const Launch& launch) {
    const bool travels = parts.resumes && !parts.shares_files;
    std::string s(kNodeStart);
    if (parts.is_array) s += "CHECKPOINT_DIR+=/$SLURM_ARRAY_TASK_ID\n";
    s += fetch_part(parts, travels);
    if (parts.resumes) s += kIgnore;
    s += helpers_part(parts, travels);
    const std::string command = torchrun(parts, launch);
    if (parts.resumes && launch.notice == "TERM") {
        s += command + " &\nlauncher=$!\n" + std::string(kTranslate) + std::string(kWaitTranslated);
    } else {
        s += "status=0\n" + command + " || status=$?\n";
    }
    if (travels) {
        s += "# All ranks ended well, so every save is finished: it need not be quiet to be sent.\n"
             "[ \"$status\" -ne 0 ] || \"$here/checkpoints.sh\" push \"$here\"\n";
    }
    return s + "exit \"$status\"\n";
}

std::string checkpoint_script(Framework framework) {
    return std::string(kCheckpoints) + checkpoint_functions(framework) +
           std::string(kCheckpointCommand);
}

}  // namespace trainyard::render
