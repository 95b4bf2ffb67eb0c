// Huge pages asked of nodes that do not exist yet.

#include <fmt/format.h>

#include "found.hpp"

namespace trainyard::lint::kp_hugepages {

namespace {

void find(const Case& c, Found& found) {
    if (c.objects("NodePool").empty() || !c.objects("NodeOverlay").empty()) return;
    for (const Job& job : c.jobs) {
        for (const std::string_view part : {"limits", "requests"}) {
            const doc::Node* resources = get(job.container, {"resources", part});
            const doc::Node* pages = get(resources, "hugepages-2Mi");
            if (pages == nullptr) continue;
            found.at(key_said(*pages, "hugepages-2Mi"),
                     fmt::format("the pod asks for hugepages-2Mi ({}), but its nodes come from "
                                 "Karpenter and no NodeOverlay declares them",
                                 pages->text()));
            break;
        }
    }
}

}  // namespace

Rule rule() {
    return {.id = "KP-HUGEPAGES",
            .severity = Severity::error,
            .title = "hugepages-2Mi requested where Karpenter makes the nodes",
            .applies = "Kubernetes pods beside a NodePool",
            .why =
                "Karpenter does not know the huge pages of a node before it exists: the"
                " pod stays Pending for ever on an empty cluster",
            .fix =
                "drop the request, or declare the capacity in a NodeOverlay (alpha, "
                "Karpenter 1.7 and later)",
            .source =
                "aws/karpenter-provider-aws#3315; kubernetes-sigs/karpenter "
                "designs/node-overlay.md",
            .find = find};
}

}  // namespace trainyard::lint::kp_hugepages
