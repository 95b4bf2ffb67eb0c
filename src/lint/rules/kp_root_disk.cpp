// The default 20 GiB root disk under GPU images.

#include <fmt/format.h>

#include "facts.hpp"
#include "found.hpp"

namespace trainyard::lint::kp_root_disk {

namespace {

void find(const Case& c, Found& found) {
    for (const Pool& p : c.pools) {
        const Said type = facts::accelerated(c, p.types);
        if (p.form != Pool::Form::karpenter || !type || p.outer == nullptr) continue;
        const doc::Node* spec = get(p.outer, "spec");
        if (get(spec, "instanceStorePolicy") != nullptr) continue;
        const doc::Node* disks = get(spec, "blockDeviceMappings");
        if (disks == nullptr) {
            found.at(get(p.outer, "kind")->where,
                     fmt::format("the class of {} nodes sets no root volume: 20 GiB is the default",
                                 type.text));
            continue;
        }
        const Said size =
            said(each(disks).empty() ? nullptr : each(disks).front(), {"ebs", "volumeSize"});
        const auto gib = facts::gibibytes(size.text);
        if (gib && *gib < 50 && *gib >= 1) {
            found.at(size, fmt::format("a root volume of {} under {} nodes", size.text, type.text));
        }
    }
}

}  // namespace

Rule rule() {
    return {.id = "KP-ROOT-DISK",
            .severity = Severity::warning,
            .title = "Accelerated nodes with the default 20 GiB root volume",
            .applies = "Karpenter EC2NodeClass of pools with accelerators",
            .why =
                "training images are larger than what is left of it: pulls fail or pods"
                " are evicted for ephemeral storage",
            .fix =
                "blockDeviceMappings with at least 100Gi, and instanceStorePolicy: "
                "RAID0 where the type has NVMe",
            .source = "aws/karpenter-provider-aws#4149",
            .find = find};
}

}  // namespace trainyard::lint::kp_root_disk
