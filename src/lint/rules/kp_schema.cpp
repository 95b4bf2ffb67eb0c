// Required fields of Karpenter's v1 objects.

#include <fmt/format.h>

#include "found.hpp"

namespace trainyard::lint::kp_schema {

namespace {

void need(const doc::Node& parent, std::string_view name, std::string_view path,
          std::string_view example, Found& found) {
    if (get(&parent, name) != nullptr) return;
    found
        .at(key_said(parent, path.substr(path.rfind('.') + 1)),
            fmt::format("{}.{} is required", path, name))
        .fix = fmt::format("add {}", example);
}

void check_pool(const Document& d, Found& found) {
    const doc::Node* spec = get(&d.root, "spec");
    const doc::Node* node = get(spec, {"template", "spec"});
    if (node == nullptr) return;
    need(*node, "nodeClassRef", "spec.template.spec",
         "nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: …}", found);
    need(*node, "requirements", "spec.template.spec", "requirements: [{key: …, operator: In, …}]",
         found);
    if (const doc::Node* ref = get(node, "nodeClassRef")) {
        const std::string path = "spec.template.spec.nodeClassRef";
        need(*ref, "group", path, "group: karpenter.k8s.aws", found);
        need(*ref, "kind", path, "kind: EC2NodeClass", found);
        need(*ref, "name", path, "name: the EC2NodeClass", found);
    }
    const doc::Node* disruption = get(spec, "disruption");
    if (disruption != nullptr) {
        need(*disruption, "consolidateAfter", "spec.disruption", "consolidateAfter: 10m", found);
    }
    const Said policy = said(disruption, {"consolidationPolicy"});
    if (policy.is("WhenUnderutilized")) {
        Finding& f = found.at(policy, "consolidationPolicy WhenUnderutilized is no value of v1");
        f.fix = "WhenEmpty for training (WhenEmptyOrUnderutilized is the renamed one)";
        f.edits.push_back({policy.where, policy.text, "WhenEmpty"});
    }
    if (const doc::Node* kubelet = get(node, "kubelet")) {
        found.at(key_said(*kubelet, "kubelet"), "kubelet is no field of a v1 NodePool").fix =
            "move it to the EC2NodeClass";
    }
}

void check_class(const Document& d, Found& found) {
    const doc::Node* spec = get(&d.root, "spec");
    if (spec == nullptr) return;
    need(*spec, "amiSelectorTerms", "spec", "amiSelectorTerms: [{alias: al2023@VERSION}]", found);
    need(*spec, "subnetSelectorTerms", "spec", "subnetSelectorTerms: [{id: subnet-…}]", found);
    need(*spec, "securityGroupSelectorTerms", "spec", "securityGroupSelectorTerms: [{id: sg-…}]",
         found);
    const bool has_role = get(spec, "role") != nullptr;
    const doc::Node* profile = get(spec, "instanceProfile");
    if (has_role && profile != nullptr) {
        found
            .at(key_said(*profile, "instanceProfile"),
                "role and instanceProfile exclude each other")
            .fix = "keep one";
    } else if (!has_role && profile == nullptr) {
        found.at(key_said(*spec, "spec"), "spec needs role or instanceProfile").fix =
            "role: the node role";
    }
}

void find(const Case& c, Found& found) {
    for (const Document& d : c.documents) {
        if (d.kind != Kind::kubernetes) continue;
        if (d.object_kind == "NodePool" && d.api.starts_with("karpenter.sh/")) check_pool(d, found);
        if (d.object_kind == "EC2NodeClass" && d.api == "karpenter.k8s.aws/v1") {
            check_class(d, found);
        }
    }
}

}  // namespace

Rule rule() {
    return {.id = "KP-SCHEMA",
            .severity = Severity::error,
            .title = "A required field of karpenter v1 is missing or not allowed",
            .applies = "Karpenter NodePool, EC2NodeClass",
            .why = "the API server refuses the object: no node is made",
            .fix = "add the field",
            .source = "Karpenter CRDs (karpenter.sh/v1, karpenter.k8s.aws/v1) as of 1.14",
            .holds_for =
                "Karpenter 1.0 and later; consolidateAfter is required by the CRD of "
                "1.14",
            .find = find};
}

}  // namespace trainyard::lint::kp_schema
