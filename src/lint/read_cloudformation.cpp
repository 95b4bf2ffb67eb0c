#include "model.hpp"

namespace trainyard::lint {

using doc::Node;

namespace {

void add_rule(const Node& n, bool is_ingress, SecurityGroup& g) {
    GroupRule r;
    r.is_ingress = is_ingress;
    r.where = n.where;
    r.protocol = said(&n, {"IpProtocol"}).text;
    if (const auto from = count(&n, {"FromPort"})) r.from = static_cast<int>(from->value);
    if (const auto to = count(&n, {"ToPort"})) r.to = static_cast<int>(to->value);
    if (const Said cidr = said(&n, {"CidrIp"})) r.cidrs.push_back(cidr.text);
    for (const std::string_view key : {"SourceSecurityGroupId", "DestinationSecurityGroupId"}) {
        if (get(&n, key) == nullptr) continue;
        r.groups.push_back(referred(get(&n, key)).text);
        r.is_self = r.is_self || r.groups.back() == g.name;
    }
    g.rules.push_back(std::move(r));
}

void read_groups(const Document& d, const Node& resources, Case& into) {
    const std::size_t first = into.groups.size();
    for (const auto& [name, r] : resources.members()) {
        if (!said(&r, {"Type"}).is("AWS::EC2::SecurityGroup")) continue;
        SecurityGroup g;
        g.document = &d;
        g.name = name;
        g.where = key_of(r);
        const Node* body = get(&r, "Properties");
        g.title = said(body, {"GroupName"}).text + " " + said(body, {"GroupDescription"}).text;
        for (const Node* n : each(get(body, "SecurityGroupIngress"))) add_rule(*n, true, g);
        for (const Node* n : each(get(body, "SecurityGroupEgress"))) add_rule(*n, false, g);
        into.groups.push_back(std::move(g));
    }
    for (const auto& [name, r] : resources.members()) {
        const Said type = said(&r, {"Type"});
        const bool is_ingress = type.is("AWS::EC2::SecurityGroupIngress");
        if (!is_ingress && !type.is("AWS::EC2::SecurityGroupEgress")) continue;
        const Node* body = get(&r, "Properties");
        const std::string to = referred(get(body, "GroupId")).text;
        for (std::size_t i = first; body != nullptr && i < into.groups.size(); ++i) {
            if (into.groups[i].name == to) add_rule(*body, is_ingress, into.groups[i]);
        }
    }
}

std::vector<Said> all_referred(const Node* list) {
    std::vector<Said> all;
    for (const Node* n : each(list)) {
        if (const Said name = referred(n)) all.push_back(name);
    }
    return all;
}

/// AWS::EKS::Nodegroup, AWS::AutoScaling::AutoScalingGroup.
Pool node_group_of(Pool p, const std::string& type) {
    const Node* body = p.node;
    if (type == "AWS::EKS::Nodegroup") {
        p.types = all_said(get(body, "InstanceTypes"));
        p.image = said(body, {"AmiType"});
        p.min = count(body, {"ScalingConfig", "MinSize"});
        p.max = count(body, {"ScalingConfig", "MaxSize"});
        p.desired = count(body, {"ScalingConfig", "DesiredSize"});
        p.subnets = all_referred(get(body, "Subnets"));
        p.purchase = eks_purchase(said(body, {"CapacityType"}));
    } else {
        p.min = count(body, {"MinSize"});
        p.max = count(body, {"MaxSize"});
        p.desired = count(body, {"DesiredCapacity"});
        p.subnets = all_referred(get(body, "VPCZoneIdentifier"));
        p.zones = all_said(get(body, "AvailabilityZones"));
        p.placement = referred(get(body, "PlacementGroup"));
    }
    return p;
}

/// What the group does not say itself, its launch template may.
void join_templates(Case& into, std::size_t first) {
    for (std::size_t i = first; i < into.pools.size(); ++i) {
        Pool& group = into.pools[i];
        if (group.form != Pool::Form::node_group) continue;
        for (const std::string_view key :
             {"LaunchTemplateId", "Id", "LaunchTemplateName", "Name"}) {
            const std::string ref = referred(get(group.node, {"LaunchTemplate", key})).text;
            for (std::size_t k = first; !ref.empty() && k < into.pools.size(); ++k) {
                const Pool& from = into.pools[k];
                if (from.form == Pool::Form::launch_template && from.name == ref) {
                    inherit(group, from);
                }
            }
        }
    }
}

}  // namespace

void read_cloudformation(const Document& d, Case& into) {
    const Node* resources = get(&d.root, "Resources");
    if (resources == nullptr || !resources->is(Node::Kind::map)) return;
    const std::size_t first_pool = into.pools.size();
    for (const auto& [name, r] : resources->members()) {
        const std::string type = said(&r, {"Type"}).text;
        const Node* body = get(&r, "Properties");
        if (body == nullptr) continue;
        into.resources.push_back({&d, type, name, key_of(r), body});
        if (type == "AWS::EC2::LaunchTemplate") {
            if (const Node* data = get(body, "LaunchTemplateData")) {
                into.pools.push_back(pool_of_launch_data(d, *data));
                into.pools.back().name = name;
            }
        } else if (type == "AWS::EC2::Instance") {
            into.pools.push_back(pool_of_launch_data(d, *body));
            into.pools.back().form = Pool::Form::instance;
            into.pools.back().name = name;
        } else if (type == "AWS::EKS::Nodegroup" || type == "AWS::AutoScaling::AutoScalingGroup") {
            into.pools.push_back(
                node_group_of(start_pool(Pool::Form::node_group, d, *body, name, key_of(r)), type));
        }
    }
    join_templates(into, first_pool);
    read_groups(d, *resources, into);
}

}  // namespace trainyard::lint
