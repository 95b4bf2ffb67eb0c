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

/// A static pool (spec.replicas) knows no weight and no limit but nodes.
void check_static(const doc::Node& spec, Found& found) {
    if (get(&spec, "replicas") == nullptr) return;
    if (const doc::Node* weight = get(&spec, "weight")) {
        found.at(key_said(*weight, "weight"), "a static NodePool (replicas) has no weight").fix =
            "remove it";
    }
    const doc::Node* limits = get(&spec, "limits");
    if (limits == nullptr || !limits->is(doc::Node::Kind::map)) return;
    for (const auto& [name, value] : limits->members()) {
        if (name == "nodes") continue;
        found
            .at(key_said(value, name),
                fmt::format("a static NodePool (replicas) allows limits.nodes only, not {}", name))
            .fix = "limits: {nodes: …}";
        return;
    }
}

/// Labels of karpenter.sh are Karpenter's own, but for the few that requirements may set.
void check_labels(const doc::Node* labels, Found& found) {
    if (labels == nullptr || !labels->is(doc::Node::Kind::map)) return;
    for (const auto& [name, value] : labels->members()) {
        const bool is_own =
            name.starts_with("karpenter.sh/") && name != "karpenter.sh/capacity-type";
        if (!is_own) continue;
        found.at(key_said(value, name), fmt::format("label {} is in a domain of Karpenter's", name))
            .fix = "use a domain of your own";
    }
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
    const bool is_known = is_one_of(
        policy.text, {"WhenEmpty", "WhenEmptyOrUnderutilized", "Balanced", "WhenUnderutilized"});
    if (policy && !is_known && !is_open(policy.text)) {
        found.at(policy, fmt::format("consolidationPolicy {} is no value of v1", policy.text)).fix =
            "WhenEmpty for training, or WhenEmptyOrUnderutilized";
    }
    if (const doc::Node* expire = get(disruption, "expireAfter")) {
        found
            .at(key_said(*expire, "expireAfter"),
                "expireAfter is no field of spec.disruption in v1")
            .fix = "move it to spec.template.spec";
    }
    check_static(*spec, found);
    check_labels(get(spec, {"template", "metadata", "labels"}), found);
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
