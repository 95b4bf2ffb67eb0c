#include "eks_nodes.hpp"

#include <fmt/format.h>

#include <cmath>

#include "ledger.hpp"
#include "limits.hpp"
#include "placeholders.hpp"

namespace trainyard::render {

namespace {

using doc::Node;

bool may_end(Purchase p) { return p == Purchase::spot || p == Purchase::capacity_block; }

Node id_term(std::string_view id) { return one_item(string_map({{"id", std::string(id)}})); }

Node requirement(const char* key, const std::string& value) {
    Node n = Node::map();
    n.set("key", key).set("operator", "In").set("values", string_list({value}));
    return n;
}

std::string root_volume(const Recipe& r) {
    double gb = limit(r.is_trainium() ? "ec2.root_volume_neuron" : "ec2.root_volume");
    // Without local NVMe the pods' scratch is on this disk too: two checkpoints.
    if (!r.instance.local_nvme) gb += std::ceil(2 * (r.checkpoint / kGB));
    return fmt::format("{:.0f}Gi", gb);
}

Node disk(const Recipe& r) {
    Node ebs = Node::map();
    ebs.set("volumeSize", root_volume(r)).set("volumeType", "gp3").set("encrypted", true);
    Node n = Node::map();
    n.set("deviceName", "/dev/xvda").set("ebs", std::move(ebs));
    return n;
}

Node node_class(const Recipe& r, const KubernetesRun& run, const NodePart& part) {
    Node spec = Node::map();
    spec.set("role", kNodeRole.value);
    spec.set("#ami", "pinned: with @latest a new image is drift, and drift replaces nodes");
    spec.set("amiSelectorTerms", one_item(string_map({{"alias", version("eks.ami").value}})));
    spec.set("#subnet", "one subnet, so one zone: EFA and the gang do not cross zones");
    spec.set("subnetSelectorTerms", id_term(kPrivateSubnet.value));
    spec.set("securityGroupSelectorTerms", id_term(kSecurityGroup.value));
    if (part.purchase == Purchase::capacity_block) {
        spec.set("#block", "a Capacity Block places its nodes together: no group of your own");
        spec.set("capacityReservationSelectorTerms", id_term(kReservation.value));
    } else if (needs_placement_group(r)) {
        spec.set("placementGroupSelector", string_map({{"name", run.name}}));
    }
    if (r.instance.local_nvme) {
        spec.set("#nvme", "local disks as one, for the pods' scratch and images");
        spec.set("instanceStorePolicy", "RAID0");
    }
    spec.set("blockDeviceMappings", one_item(disk(r)));
    Node metadata = Node::map();
    metadata.set("#", "pods get credentials by Pod Identity, not from the node");
    metadata.set("httpTokens", "required").set("httpPutResponseHopLimit", 1);
    spec.set("metadataOptions", std::move(metadata));
    spec.set("tags", string_map({{"trainyard-run", run.name}, {"trainyard-plan", r.plan_hash}}));
    Node n = manifest("karpenter.k8s.aws/v1", "EC2NodeClass", part.name, "");
    n.set("spec", std::move(spec));
    return n;
}

const char* capacity_type(Purchase p) {
    if (p == Purchase::spot) return "spot";
    return p == Purchase::capacity_block ? "reserved" : "on-demand";
}

Node node_template(const Recipe& r, const KubernetesRun& run, const NodePart& part) {
    Node requirements = Node::list();
    requirements.append(requirement("node.kubernetes.io/instance-type", r.instance.type));
    requirements.append(requirement("karpenter.sh/capacity-type", capacity_type(part.purchase)));
    Node taint = Node::map();
    taint.set("key", run.pod.device).set("value", "true").set("effect", "NoSchedule");
    Node spec = Node::map();
    spec.set("nodeClassRef",
             string_map(
                 {{"group", "karpenter.k8s.aws"}, {"kind", "EC2NodeClass"}, {"name", part.name}}));
    spec.set("requirements", std::move(requirements)).set("taints", one_item(std::move(taint)));
    spec.set("#expire", "the default of 720h would replace nodes under a long run");
    spec.set("expireAfter", "Never");
    if (may_end(part.purchase)) {
        spec.set("#grace",
                 "without it do-not-disrupt would keep the pods from their notice until "
                 "EC2 takes the node");
        spec.set("terminationGracePeriod", part.purchase == Purchase::spot ? "2m" : "10m");
    }
    Node labels = Node::map();
    labels.set("labels", string_map({{"trainyard-run", run.name}}));
    Node n = Node::map();
    n.set("metadata", std::move(labels)).set("spec", std::move(spec));
    return n;
}

Node budget(const char* nodes, const std::vector<std::string>& reasons) {
    Node n = Node::map();
    n.set("nodes", nodes).set("reasons", string_list(reasons));
    return n;
}

Node disruption() {
    Node budgets = Node::list();
    budgets.append(budget("0", {"Drifted", "Underutilized"})).append(budget("100%", {"Empty"}));
    Node n = Node::map();
    n.set("#", "only a node without pods goes; a run is never moved to save money");
    n.set("consolidationPolicy", "WhenEmpty").set("consolidateAfter", "10m");
    n.set("budgets", std::move(budgets));
    return n;
}

Node node_pool(const Recipe& r, const KubernetesRun& run, const NodePart& part) {
    Node limits = Node::map();
    limits.set("#", fmt::format("{} x {}, no node more", part.nodes, r.instance.type));
    limits.set("cpu", std::to_string(part.nodes * r.instance.vcpu));
    limits.set(run.pod.device, std::to_string(part.nodes * r.instance.accelerators));
    Node spec = Node::map();
    spec.set("template", node_template(r, run, part)).set("limits", std::move(limits));
    spec.set("disruption", disruption());
    // Of two pools the guaranteed one fills first.
    if (part.nodes < r.nodes) spec.set("weight", part.purchase == Purchase::spot ? 1 : 100);
    Node n = manifest("karpenter.sh/v1", "NodePool", part.name, "");
    n.set("spec", std::move(spec));
    return n;
}

}  // namespace

std::vector<NodePart> node_parts(const Recipe& r, const std::string& name) {
    if (r.purchase != Purchase::mixed) return {{name, r.purchase, r.nodes}};
    const Purchase base = r.block_days ? Purchase::capacity_block : Purchase::on_demand;
    return {{name + "-base", base, r.base_nodes},
            {name + "-spot", Purchase::spot, r.nodes - r.base_nodes}};
}

bool needs_placement_group(const Recipe& r) {
    return r.uses_efa() && !r.block_days && r.purchase != Purchase::capacity_block;
}

std::vector<Node> karpenter_nodes(const Recipe& r, const KubernetesRun& run) {
    std::vector<Node> all;
    for (const NodePart& part : node_parts(r, run.name)) {
        all.push_back(node_class(r, run, part));
        all.push_back(node_pool(r, run, part));
    }
    return all;
}

}  // namespace trainyard::render
