// Accelerated nodes that anything may land on.

#include <fmt/format.h>

#include "facts.hpp"
#include "found.hpp"

namespace trainyard::lint::kp_no_taint {

namespace {

void find(const Case& c, Found& found) {
    for (const Pool& p : c.pools) {
        const Said type = facts::accelerated(c, p.types);
        if (p.form != Pool::Form::karpenter || !type) continue;
        if (get(p.node, {"spec", "replicas"}) != nullptr) continue;
        const doc::Node* spec = get(p.node, {"spec", "template", "spec"});
        if (get(spec, "startupTaints") != nullptr) continue;
        Said soft;
        bool keeps_out = false;
        for (const doc::Node* taint : each(get(spec, "taints"))) {
            const Said effect = said(taint, {"effect"});
            if (effect.is("PreferNoSchedule")) soft = effect;
            keeps_out = keeps_out || !effect.is("PreferNoSchedule");
        }
        if (keeps_out) continue;
        if (soft) {
            found.at(soft, "PreferNoSchedule does not keep other pods off the nodes").fix =
                "effect: NoSchedule";
            continue;
        }
        Finding& f =
            found.at(p.where, fmt::format("NodePool {} with {} has no taint", p.name, type.text));
        f.waste = price_of(c, type.text, 1);
    }
}

}  // namespace

Rule rule() {
    return {.id = "KP-NO-TAINT",
            .severity = Severity::warning,
            .title = "A GPU NodePool without a taint",
            .applies = "Karpenter NodePools with accelerators",
            .why =
                "system and CPU pods land on the most expensive nodes and keep them "
                "from scaling to zero",
            .fix =
                "taints: [{key: nvidia.com/gpu, effect: NoSchedule}], and tolerate it "
                "in the training pods",
            .source = "aws-samples/amazon-eks-machine-learning-with-terraform-and-kubeflow#43",
            .find = find};
}

}  // namespace trainyard::lint::kp_no_taint
