// Another number of processes per node than GPUs.

#include <fmt/format.h>

#include "found.hpp"
#include "launch.hpp"

namespace trainyard::lint::launch_gpus {

namespace {

struct Given {
    std::int64_t gpus = 0;
    Location where;
    std::string who;
};

std::optional<Given> given(const Case& c, const Launch& l) {
    if (l.gpus) return Given{l.gpus->value, l.gpus->where, "Slurm is asked for"};
    if (l.job->form == Job::Form::pod && l.job->gpus) {
        return Given{l.job->gpus->value, l.job->gpus->where, "the pod has"};
    }
    // A script that a batch job of the case may call gets what that job asks for.
    if (l.document->kind == Kind::shell && !c.of_kind(Kind::sbatch).empty()) return {};
    const catalog::Instance* i = instance_of(c, l);
    if (i == nullptr || i->accelerator.empty() || i->accelerator.starts_with("trainium")) return {};
    const catalog::Accelerator* a = c.accelerator(i->type);
    if (a == nullptr || a->vendor != "NVIDIA") return {};
    return Given{static_cast<std::int64_t>(i->accelerators), {}, i->type + " has"};
}

void judge(const Case& c, const Launch& l, Found& found) {
    const bool is_starter = l.is_torch() || l.launcher == "deepspeed";
    if (!is_starter || !l.processes || l.processes->value <= 0) return;
    const auto have = given(c, l);
    if (!have || have->gpus <= 0 || have->gpus == l.processes->value) return;
    if (l.tasks && l.tasks->value > 1) return;  // LAUNCH-TASKS
    const bool too_many = l.processes->value > have->gpus;
    Finding& f = found.at(
        Said{std::to_string(l.processes->value), l.processes->where},
        fmt::format(
            "{} processes per node, {} {} GPUs{}", l.processes->value, have->who, have->gpus,
            too_many ? ""
                     : fmt::format(": {} are paid and idle", have->gpus - l.processes->value)));
    if (have->where.line > 0) f.related.push_back({have->where, "the GPUs"});
    if (too_many) {
        f.why = "the last processes find no device: CUDA error: invalid device ordinal";
        return;
    }
    f.severity = Severity::warning;
    f.efficiency_lost =
        1 - static_cast<double>(l.processes->value) / static_cast<double>(have->gpus);
    const catalog::Instance* i = instance_of(c, l);
    const std::int64_t nodes = l.nodes ? l.nodes->value : 1;
    if (i == nullptr) return;
    if (const auto rate = price_of(c, i->type, nodes)) f.waste = *rate * *f.efficiency_lost;
}

/// --gpus-per-task=1 with one launcher a node: its processes share that GPU.
bool judge_task(const Launch& l, Found& found) {
    if (l.document->kind != Kind::sbatch || !l.is_torch() || !l.processes) return false;
    const EnvVar* per_task = find_env(l.document->script.directives, "gpus-per-task");
    const auto gpus = per_task == nullptr ? std::nullopt : whole_number(per_task->value.text);
    const bool is_one_launcher = l.tasks && l.tasks->value == 1;
    if (!gpus || !is_one_launcher || *gpus >= l.processes->value) return false;
    found
        .at(Said{per_task->value.text, per_task->value.where},
            fmt::format("--gpus-per-task={} for a launcher of {} processes", *gpus,
                        l.processes->value))
        .fix = fmt::format("--gpus-per-task={}", l.processes->value);
    return true;
}

void find(const Case& c, Found& found) {
    for (const Launch& l : launches(c)) {
        if (!judge_task(l, found)) judge(c, l, found);
    }
}

}  // namespace

Rule rule() {
    return {.id = "LAUNCH-GPUS",
            .severity = Severity::error,
            .title = "Processes per node and GPUs per node differ",
            .applies = "torchrun, accelerate and deepspeed lines beside a number of GPUs",
            .why = "the GPUs without a process are paid and idle",
            .fix = "--nproc-per-node as many as the node has GPUs",
            .source = "PyTorch documentation, torchrun; data/catalog/instances.csv",
            .find = find};
}

}  // namespace trainyard::lint::launch_gpus
