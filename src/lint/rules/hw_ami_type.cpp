// An image without the driver of the accelerators.

#include <fmt/format.h>

#include "facts.hpp"
#include "found.hpp"

namespace trainyard::lint::hw_ami_type {

namespace {

void find(const Case& c, Found& found) {
    for (const Pool& p : c.pools) {
        if (p.form != Pool::Form::node_group) continue;
        const Said ami = p.image;
        const Said type = facts::accelerated(c, p.types);
        if (!ami || !type || is_open(ami.text) || ami.is("CUSTOM")) continue;
        const catalog::Accelerator* a = c.accelerator(type.text);
        if (a == nullptr) continue;
        const bool is_neuron = a->vendor == "AWS";
        const std::string_view wanted = is_neuron ? "NEURON" : "NVIDIA";
        const bool is_old_gpu = ami.is("AL2_x86_64_GPU");
        if (contains(ami.text, wanted) && !is_old_gpu) continue;
        Finding& f = found.at(
            ami, is_old_gpu
                     ? std::string("ami_type AL2_x86_64_GPU: there are no AL2 images any more")
                     : fmt::format("{} needs an image with the {} driver, {} has none", type.text,
                                   is_neuron ? "Neuron" : "NVIDIA", ami.text));
        const std::string better = fmt::format("AL2023_x86_64_{}", wanted);
        f.fix = fmt::format("{} (or the Bottlerocket variant)", better);
        f.edits.push_back({ami.where, ami.text, better});
        f.waste = price_of(c, type.text, 1);
    }
}

}  // namespace

Rule rule() {
    return {.id = "HW-AMI-TYPE",
            .severity = Severity::error,
            .title = "An AMI type that does not fit the accelerators",
            .applies = "EKS node groups of Terraform and CloudFormation",
            .why =
                "the image has no driver for the devices: the resource never appears, "
                "pods stay Pending and the nodes are billed",
            .fix =
                "AL2023_x86_64_NVIDIA for GPUs, AL2023_x86_64_NEURON for Trainium and "
                "Inferentia, or the Bottlerocket variants",
            .source = "EKS user guide, AMI types; terraform-aws-eks#2060",
            .find = find};
}

}  // namespace trainyard::lint::hw_ami_type
