// Accelerate on the CPU of a GPU node.

#include "found.hpp"
#include "launch.hpp"

namespace trainyard::lint::acc_cpu {

namespace {

void find(const Case& c, Found& found) {
    const Said type = only_type(c);
    for (const Document* d : c.of_kind(Kind::accelerate)) {
        const doc::Node* cpu = get(&d->root, "use_cpu");
        const Said kind = said(&d->root, {"distributed_type"});
        const bool is_cpu = is_true(cpu) || kind.is("MULTI_CPU");
        if (!is_cpu || !type) continue;
        const Said place = is_true(cpu) ? key_said(*cpu, "use_cpu") : kind;
        found.at(place, "this trains on the CPU of " + type.text)
            .related.push_back({type.where, "the nodes"});
    }
}

}  // namespace

Rule rule() {
    return {.id = "ACC-CPU",
            .severity = Severity::error,
            .title = "The configuration trains on the CPU",
            .applies = "Accelerate configurations",
            .why = "the GPUs of the node are paid and idle",
            .fix = "use_cpu: false and distributed_type: MULTI_GPU, FSDP or DEEPSPEED",
            .source = "Hugging Face Accelerate documentation, configuration",
            .find = find};
}

}  // namespace trainyard::lint::acc_cpu
