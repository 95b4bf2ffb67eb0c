#include "kubernetes_scripts.hpp"

#include <fmt/format.h>

#include "checkpoint_functions.hpp"

namespace trainyard::render {

namespace {

constexpr std::string_view kStart =
    R"sh(# What one node does. Environment: DATA_S3, DATA_DIR, CHECKPOINT_S3, CHECKPOINT_DIR
# and torchrun's PET_NNODES, PET_NODE_RANK, PET_NPROC_PER_NODE, PET_MASTER_ADDR. Arguments: the
# program.
set -euo pipefail
node=${PET_NODE_RANK:-0}
nodes=${PET_NNODES:-1}
mkdir -p "$CHECKPOINT_DIR"
)sh";

constexpr std::string_view kStage = R"sh(
mkdir -p "$DATA_DIR"
aws s3 sync --only-show-errors "$DATA_S3" "$DATA_DIR"
)sh";

constexpr std::string_view kSend = R"sh(
pull
watch &
sender=$!
)sh";

constexpr std::string_view kRun = R"sh(
# Nodes may come minutes apart: each has data of its own to fetch.
torchrun --max-restarts=0 --rdzv-conf=timeout=3600 "$@" &
launcher=$!
)sh";

// {}: the signal.
constexpr std::string_view kNotice = R"sh(
# Notice comes as SIGTERM. The ranks get SIG{0}, save and end; the launcher would kill them
# instead.
noticed=0
on_notice() {{
    noticed=1
    local ranks
    ranks=$(cat /proc/"$launcher"/task/*/children) || return 0
    # shellcheck disable=SC2086 # numbers, one word each
    kill -{0} $ranks || true
}}
trap on_notice TERM
)sh";

/// A program that cannot save on a signal ends at once and starts from its last checkpoint.
constexpr std::string_view kNoNotice = R"sh(
noticed=0
trap 'noticed=1; kill -TERM "$launcher"' TERM
)sh";

constexpr std::string_view kWait = R"sh(
status=0
while true; do
    wait "$launcher" && status=0 || status=$?
    # 143 = 128 + SIGTERM: the trap ended the wait, the ranks go on.
    if [ "$status" -ne 143 ] || ! kill -0 "$launcher" 2>/dev/null; then break; fi
done
)sh";

}  // namespace

std::string pod_script(const PodScriptParts& parts) {
    const bool travels = parts.resumes && !parts.shares_files;
    std::string s(kStart);
    if (parts.stages_data) s += kStage;
    if (travels) {
        s += fmt::format("QUIET_SECONDS=${{QUIET_SECONDS:-60}}\nKEEP_STEPS=${{KEEP_STEPS:-{}}}\n",
                         kept_checkpoints());
        s += checkpoint_functions(parts.framework) + std::string(kSend);
    }
    s += kRun;
    if (!parts.resumes) return s + "wait \"$launcher\"\n";
    s += parts.notice.empty() ? std::string(kNoNotice)
                              : fmt::format(fmt::runtime(kNotice), parts.notice);
    s += kWait;
    if (travels) {
        s += "kill \"$sender\" 2>/dev/null || true\n"
             "# All ranks ended well, so every save is finished.\n"
             "[ \"$status\" -ne 0 ] || push all\n";
    }
    // A pod that ends with 0 counts as done, also one that was only asked to go.
    return s + "[ \"$noticed\" = 0 ] || exit 143\nexit \"$status\"\n";
}

}  // namespace trainyard::render
