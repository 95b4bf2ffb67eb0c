// A pod that may not run on the nodes it selects.

#include <fmt/format.h>

#include "found.hpp"

namespace trainyard::lint::k8_toleration {

namespace {

bool tolerates(const doc::Node* tolerations, const Said& key, const Said& effect) {
    for (const doc::Node* t : each(tolerations)) {
        const Said own = said(t, {"key"});
        const Said own_effect = said(t, {"effect"});
        const bool any_key = !own && said(t, {"operator"}).is("Exists");
        const bool same_effect = !own_effect || own_effect.text == effect.text;
        if ((any_key || own.text == key.text) && same_effect) return true;
    }
    return false;
}

void judge(const Job& job, const Pool& p, Found& found) {
    for (const doc::Node* taint : each(get(p.node, {"spec", "template", "spec", "taints"}))) {
        const Said key = said(taint, {"key"});
        const Said effect = said(taint, {"effect"});
        if (!key || effect.is("PreferNoSchedule")) continue;
        // The API server's ExtendedResourceToleration plugin adds these where it is on: EKS has it
        // off.
        if (tolerates(get(job.spec, "tolerations"), key, effect)) continue;
        Finding& f =
            found.at(job.where, fmt::format("{} does not tolerate {}, the taint of NodePool {}",
                                            job.name, key.text, p.name));
        f.fix = fmt::format("add the toleration {{key: {}, operator: Exists}}", key.text);
        f.related.push_back({key.where, "the taint"});
        return;
    }
}

void find(const Case& c, Found& found) {
    for (const Job& job : c.jobs) {
        if (job.form != Job::Form::pod || job.spec == nullptr || !job.has_devices()) continue;
        if (contains(job.object_kind, "Runtime")) continue;
        const auto& pools = c.pools_of(job);
        if (pools.size() == 1 && pools[0]->form == Pool::Form::karpenter)
            judge(job, *pools[0], found);
    }
}

}  // namespace

Rule rule() {
    return {.id = "K8-TOLERATION",
            .severity = Severity::error,
            .title = "The pod does not tolerate the taint of the nodes it needs",
            .applies = "Kubernetes pods beside NodePools",
            .why = "the pod stays Pending; with a second pool it lands on the wrong nodes",
            .fix = "add the toleration",
            .source = "Kubernetes documentation, taints and tolerations",
            .find = find};
}

}  // namespace trainyard::lint::k8_toleration
