// A resource of the other vendor.

#include <fmt/format.h>

#include "facts.hpp"
#include "found.hpp"

namespace trainyard::lint::k8_device {

namespace {

void find(const Case& c, Found& found) {
    for (const Job& job : c.jobs) {
        const catalog::Instance* i = facts::only(c, c.types_of(job));
        if (job.form != Job::Form::pod || i == nullptr || i->accelerator.empty()) continue;
        const bool is_neuron = c.accelerator(i->type)->vendor == "AWS";
        const auto& wrong = is_neuron ? job.gpus : job.neurons;
        if (!wrong || wrong->value <= 0) continue;
        found.at(Said{std::to_string(wrong->value), wrong->where},
                 fmt::format("{} asked for on {}",
                             is_neuron ? "nvidia.com/gpu" : "aws.amazon.com/neuron", i->type));
    }
}

}  // namespace

Rule rule() {
    return {.id = "K8-DEVICE",
            .severity = Severity::error,
            .title = "The pod asks for a device that the instance type does not have",
            .applies = "Kubernetes pods",
            .why =
                "the pod stays Pending: GPUs are nvidia.com/gpu, Trainium and "
                "Inferentia are aws.amazon.com/neuron",
            .fix = "ask for the resource of the type",
            .source = "data/catalog/instances.csv; Neuron device plugin documentation",
            .find = find};
}

}  // namespace trainyard::lint::k8_device
