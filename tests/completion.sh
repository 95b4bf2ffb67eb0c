#!/usr/bin/env bash
# The bash completion script, run as the shell runs it.
# usage: tests/completion.sh BINARY
set -uo pipefail
source <("$1" completion bash)
failed=0

# offers WORD WORDS...: completing the last of WORDS offers WORD; "-WORD" = does not offer it.
offers() {
    local wanted="$1" found=no
    shift
    COMP_WORDS=("$@")
    COMP_CWORD=$(($# - 1))
    COMPREPLY=()
    _trainyard
    for word in "${COMPREPLY[@]}"; do [ "$word" = "${wanted#!}" ] && found=yes; done
    if { [ "${wanted#!}" = "$wanted" ] && [ $found = no ]; } ||
        { [ "${wanted#!}" != "$wanted" ] && [ $found = yes ]; }; then
        echo "completing \"$*\": $wanted: ${COMPREPLY[*]:-nothing}" >&2
        failed=1
    fi
}

offers plan trainyard pl
offers llama-3.1-8b trainyard plan llama-3.1-8
offers --deadline trainyard plan llama-3.1-8b --dead
offers !--deadline trainyard plan llama-3.1-8b --deadline ""
offers p5.48xlarge trainyard plan llama-3.1-8b --instance p5.4
offers p4d.24xlarge trainyard plan llama-3.1-8b --have p4d
offers p4d.24xlarge trainyard plan llama-3.1-8b --why-not p4d
offers H100-80 trainyard plan llama-3.1-8b --accelerator H1
offers us-west-2 trainyard plan llama-3.1-8b --regions us-w
offers checkpoint trainyard plan llama-3.1-8b --resume che
offers trn1.32xlarge trainyard decode trn1.3
offers mixtral-8x7b trainyard model mix
offers eu-west-1 trainyard catalog --region eu-w
offers p5.48xlarge trainyard catalog p5.48
exit $failed
