// Many nodes of GPUs that have no GPUDirect RDMA.

#include <fmt/format.h>

#include <algorithm>

#include "found.hpp"
#include "launch.hpp"

namespace trainyard::lint::hw_g_multinode {

namespace {

/// Sharded state makes every layer wait for the network.
bool is_sharded(const std::vector<Said>& words) {
    return std::any_of(words.begin(), words.end(), [](const Said& w) {
        return contains(w.text, "fsdp") || contains(w.text, "zero") ||
               contains(w.text, "full-shard") || contains(w.text, "full_shard") ||
               contains(w.text, "deepspeed") || contains(w.text, "tensor-model-parallel");
    });
}

void judge(const Case& c, const Said& type, const Count& nodes, bool is_sharded_job, Found& found) {
    const catalog::Instance* i = c.instance(type.text);
    if (i == nullptr || nodes.value < 2 || i->gpudirect_rdma == catalog::Yes::yes) return;
    if (!i->family.starts_with("g") || i->accelerator.empty()) return;
    Finding& f = found.at(
        nodes.where,
        fmt::format("{} nodes of {}{}: its GPUs have no GPUDirect RDMA and only PCIe between them",
                    nodes.value, type.text, is_sharded_job ? " with sharded training" : ""));
    f.text = std::to_string(nodes.value);
    f.waste = price_of(c, type.text, nodes.value - 1);
    if (!is_sharded_job && nodes.value < 4) f.severity = Severity::note;
}

void find(const Case& c, Found& found) {
    for (const Job& job : c.jobs) {
        std::vector<Said> types = c.types_of(job);
        if (types.empty() && job.form != Job::Form::pod) types.push_back(only_type(c));
        if (!job.nodes || types.size() != 1 || !job.is_training) continue;
        judge(c, types.front(), *job.nodes, is_sharded(job.words), found);
    }
    for (const Training& t : c.trainings) {
        const bool is_sharded_job =
            std::any_of(t.hyperparameters.begin(), t.hyperparameters.end(), [](const EnvVar& v) {
                return contains(v.name, "fsdp") || contains(v.name, "deepspeed");
            });
        if (t.count && t.type) judge(c, t.type, *t.count, is_sharded_job, found);
    }
}

}  // namespace

Rule rule() {
    return {.id = "HW-G-MULTINODE",
            .severity = Severity::warning,
            .title = "Multi-node training on G instances, whose GPUs have no GPUDirect RDMA",
            .applies = "Kubernetes jobs, SageMaker jobs",
            .why =
                "their GPUs hang on PCIe and every byte between nodes is staged through"
                " host memory: sharded training scales poorly and the added nodes are "
                "mostly paid to wait",
            .fix =
                "use one node, data parallelism with a small model, or a P4d, P5 or P6 "
                "type",
            .source = "data/catalog/instances.csv (gpudirect_rdma); aws/aws-ofi-nccl#547",
            .find = find};
}

}  // namespace trainyard::lint::hw_g_multinode
