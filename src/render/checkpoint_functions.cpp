#include "checkpoint_functions.hpp"

#include "limits.hpp"

namespace trainyard::render {

namespace {

/// What is there, and what of it may be read.
constexpr std::string_view kNames = R"sh(
# A step is a subdirectory of CHECKPOINT_DIR with a number in its name, finished once nothing in it
# changed for QUIET_SECONDS (a writer that pauses longer writes into .NAME and renames it). A node
# marks a step after all its files are in S3: a step with as many marks as nodes is whole, and
# nobody reads another. Files beside the steps stay here: they may speak of a newer step.
names() { # of what lies in steps/ or marks/
    local listing status=0
    # Status 1: there is none. Anything else is a failure, and no reason to begin at step 0.
    listing=$(aws s3 ls "$CHECKPOINT_S3/$1/") || status=$?
    [ "$status" -le 1 ] || return "$status"
    awk 'NF { sub("/$", "", $NF); print $NF }' <<<"$listing"
}

whole_steps() { # newest last, by the number in their name
    local all
    all=$(names marks) || return
    awk '{
        step = $0
        if (!sub("[.][0-9]+-of-[0-9]+$", "", step)) next
        of = $0
        sub("^.*-of-", "", of)
        if (++marks[step, of] == of + 0) print step
    }' <<<"$all" | sort -Vu
}

write_latest() { # what the framework reads to know where to begin
    @LATEST@
}

drop() { # a step in S3; the marks first, for without them nobody reads it
    local all mark
    all=$(names marks) || return
    while read -r mark; do
        [[ $mark == "$1".*-of-* ]] || continue
        aws s3 rm --only-show-errors "$CHECKPOINT_S3/marks/$mark" || return
    done <<<"$all"
    aws s3 rm --only-show-errors --recursive "$CHECKPOINT_S3/steps/$1/"
}
)sh";

constexpr std::string_view kMoves = R"sh(
pull() {
    local steps step all
    steps=$(whole_steps)
    step=${steps##*$'\n'}
    # What a lost run left here and never finished must not be resumed from, nor mix with what this
    # run sends.
    mkdir -p "$CHECKPOINT_DIR"
    find "$CHECKPOINT_DIR" -mindepth 1 -maxdepth 1 -exec rm -rf {} +
    mkdir -p "$CHECKPOINT_DIR/.sent"
    if [ "$node" = 0 ]; then
        all=$(names steps; names marks | sed -E 's/[.][0-9]+-of-[0-9]+$//')
        comm -23 <(sort -u <<<"$all") <(sort -u <<<"$steps") | while read -r half; do
            [ -z "$half" ] || drop "$half"
        done
    fi
    [ -n "$step" ] || { echo "no checkpoint in $CHECKPOINT_S3: a first start"; return; }
    aws s3 sync --only-show-errors "$CHECKPOINT_S3/steps/$step" "$CHECKPOINT_DIR/$step"
    write_latest "$step"
    touch "$CHECKPOINT_DIR/.sent/$step"
    echo "resuming from $step"
}

is_quiet() { # nothing in it changed for a while
    [ -z "$(find "$1" -newermt "-$QUIET_SECONDS seconds" -print -quit)" ]
}

send() { # one step; each "|| return" counts: a part that did not arrive must not be marked
    aws s3 sync --only-show-errors "$CHECKPOINT_DIR/$1" "$CHECKPOINT_S3/steps/$1" || return
    date -u +%FT%TZ |
        aws s3 cp --only-show-errors - "$CHECKPOINT_S3/marks/$1.$node-of-$nodes" || return
    touch "$CHECKPOINT_DIR/.sent/$1"
}

prune() { # all but the newest KEEP_STEPS; 0 keeps all, and S3 bills all
    local step steps
    [ "$KEEP_STEPS" -gt 0 ] || return 0
    if [ "$node" = 0 ]; then
        steps=$(whole_steps) || return
        head -n "-$KEEP_STEPS" <<<"$steps" | while read -r step; do drop "$step" || return; done
    fi
    for step in "$CHECKPOINT_DIR"/*/; do
        step=$(basename "$step")
        if [ -e "$CHECKPOINT_DIR/.sent/$step" ]; then echo "$step"; fi
    done | sort -V | head -n "-$KEEP_STEPS" | while read -r step; do
        rm -rf "${CHECKPOINT_DIR:?}/$step"
    done
}

push() { # what is finished and not yet sent; with "all" everything
    local path step sent=0
    for path in "$CHECKPOINT_DIR"/*/; do
        step=$(basename "$path")
        [ -d "$path" ] && [ ! -e "$CHECKPOINT_DIR/.sent/$step" ] || continue
        [ "${1:-}" = all ] || is_quiet "$path" || continue
        send "$step" || return
        sent=1
    done
    [ "$sent" = 0 ] || prune
}

watch() { while sleep 15; do push || echo "sending failed, trying again" >&2; done; }
)sh";

}  // namespace

std::string checkpoint_functions(Framework framework) {
    constexpr std::string_view kMark = "@LATEST@";
    std::string s(kNames);
    std::string_view latest = ": \"$1 is the newest directory\"";
    if (framework == Framework::megatron)
        latest = R"sh(local file=$CHECKPOINT_DIR/latest_checkpointed_iteration.txt
    echo "$((10#${1##*[!0-9]}))" >"$file")sh";
    if (framework == Framework::deepspeed) latest = R"sh(echo "$1" >"$CHECKPOINT_DIR/latest")sh";
    s.replace(s.find(kMark), kMark.size(), latest);
    return s + std::string(kMoves);
}

int kept_checkpoints() { return static_cast<int>(limit("s3.checkpoints_kept")); }

}  // namespace trainyard::render
