#include "kubernetes_scripts.hpp"

#include <fmt/format.h>

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

// A step is whole when every node has marked it, after its own files: nobody reads another.
constexpr std::string_view kCheckpoints = R"sh(
# Checkpoints between this node and S3. A step is a subdirectory of CHECKPOINT_DIR with a number in
# its name; it is sent when nothing in it changed for a minute, and marked when all of it is sent.
# A start takes the newest step with as many marks as nodes.
state=$CHECKPOINT_DIR/.sent
mkdir -p "$state"

whole_steps() { # newest last, by the number in their name
    local listing status=0
    # Status 1: there are none. Anything else is a failure, and no reason to begin at step 0.
    listing=$(aws s3 ls "$CHECKPOINT_S3/marks/") || status=$?
    [ "$status" -le 1 ] || return "$status"
    awk -v n="$nodes" '{
        step = $NF
        if (sub("[.][0-9]+-of-" n "$", "", step)) marks[step]++
    } END { for (step in marks) if (marks[step] == n) print step }' <<<"$listing" | sort -V
}

pull() {
    local steps step
    steps=$(whole_steps)
    step=${steps##*$'\n'}
    if [ -z "$step" ]; then
        echo "no checkpoint in $CHECKPOINT_S3: a first start"
        return
    fi
    aws s3 sync --only-show-errors "$CHECKPOINT_S3/steps/$step" "$CHECKPOINT_DIR/$step"
    aws s3 sync --only-show-errors "$CHECKPOINT_S3/beside/$step" "$CHECKPOINT_DIR"
    touch "$state/$step"
    echo "resuming from $step"
}

send() { # one step
    local file
    aws s3 sync --only-show-errors "$CHECKPOINT_DIR/$1" "$CHECKPOINT_S3/steps/$1"
    # The small files beside the steps ("latest is 1200") belong to the step they came with.
    for file in "$CHECKPOINT_DIR"/*; do
        [ -f "$file" ] || continue
        aws s3 cp --only-show-errors "$file" "$CHECKPOINT_S3/beside/$1/"
    done
    date -u +%FT%TZ | aws s3 cp --only-show-errors - "$CHECKPOINT_S3/marks/$1.$node-of-$nodes"
    touch "$state/$1"
}

push() { # all: also what has just changed
    local path step
    for path in "$CHECKPOINT_DIR"/*/; do
        step=$(basename "$path")
        [ -d "$path" ] && [ ! -e "$state/$step" ] || continue
        if [ "${1:-}" = all ] || [ -z "$(find "$path" -newermt '-60 seconds' -print -quit)" ]; then
            send "$step"
        fi
    done
}

pull
while sleep 15; do push || echo "sending failed, trying again" >&2; done &
sender=$!
)sh";

constexpr std::string_view kRun = R"sh(
torchrun --max-restarts=0 "$@" &
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
    if (travels) s += kCheckpoints;
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
