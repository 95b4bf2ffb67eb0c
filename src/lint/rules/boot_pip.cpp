// Python packages without a version, installed at the start of every node.

#include <fmt/format.h>

#include "found.hpp"

namespace trainyard::lint::boot_pip {

namespace {

/// Those whose releases break training scripts: CUDA builds and interfaces change with them.
constexpr std::string_view kBreaking[] = {
    "torch",      "transformers", "deepspeed",          "accelerate",        "flash-attn",
    "sagemaker",  "torchvision",  "lightning",          "pytorch-lightning", "megatron-core",
    "tensorflow", "jax",          "transformer-engine", "bitsandbytes"};

void judge(const Command& c, Found& found) {
    std::size_t i = 0;
    while (i < c.words.size() && !c.words[i].is("install")) ++i;
    if (i == c.words.size() || i == 0) return;
    const std::string& program = c.words[i - 1].text;
    if (!program.ends_with("pip") && !program.ends_with("pip3")) return;
    for (++i; i < c.words.size(); ++i) {
        for (const std::string_view name : kBreaking) {
            if (c.words[i].text != name) continue;
            found.at(c.words[i], fmt::format("{} without a version: tomorrow's node gets another "
                                             "one than today's",
                                             name));
        }
    }
}

void find(const Case& c, Found& found) {
    for (const Document& d : c.documents) {
        for (const Command& command : d.script.commands) judge(command, found);
    }
}

}  // namespace

Rule rule() {
    return {.id = "BOOT-PIP",
            .severity = Severity::note,
            .title = "A framework is installed without a version",
            .applies = "shell scripts, Dockerfiles",
            .why =
                "a node that joins later, or a run that resumes, has another version: results "
                "change, checkpoints do not load, CUDA builds do not match the driver",
            .fix = "pin it: torch==2.9.1",
            .source = "pip documentation, repeatable installs",
            .find = find};
}

}  // namespace trainyard::lint::boot_pip
