#include <algorithm>

#include "model.hpp"
#include "trainyard/base/text.hpp"

namespace trainyard::lint {

using doc::Node;

Said referred(const Node* n) {
    if (const Said ref = said(n, {"Ref"})) return ref;
    if (const Node* attribute = get(n, "Fn::GetAtt")) {
        const auto parts = all_said(attribute);
        if (parts.empty()) return {};
        return {parts.front().text.substr(0, parts.front().text.find('.')), parts.front().where};
    }
    return said(n);
}

namespace {

Nic nic_of(const Node& n) {
    Nic nic;
    nic.where = n.where;
    nic.card = count(&n, {"NetworkCardIndex"});
    nic.device = count(&n, {"DeviceIndex"});
    nic.type = said(&n, {"InterfaceType"});
    if (is_true(get(&n, "AssociatePublicIpAddress"))) {
        nic.public_ip = {"true", key_of(*get(&n, "AssociatePublicIpAddress"))};
    }
    nic.subnet = said(&n, {"SubnetId"});
    for (const Node* g : each(get(&n, "Groups"))) {
        const Said name = referred(g);
        if (name) nic.groups.push_back(name);
    }
    return nic;
}

void read_group(const Document& d, const Node& n, Case& into) {
    SecurityGroup g;
    g.document = &d;
    g.name = said(&n, {"GroupId"}).text;
    g.title = said(&n, {"GroupName"}).text + " " + said(&n, {"Description"}).text;
    g.where = n.where;
    for (const bool is_ingress : {true, false}) {
        const Node* list = get(&n, is_ingress ? "IpPermissions" : "IpPermissionsEgress");
        for (const Node* p : each(list)) {
            GroupRule r;
            r.is_ingress = is_ingress;
            r.where = p->where;
            r.protocol = said(p, {"IpProtocol"}).text;
            if (const auto from = count(p, {"FromPort"})) r.from = static_cast<int>(from->value);
            if (const auto to = count(p, {"ToPort"})) r.to = static_cast<int>(to->value);
            for (const Node* range : each(get(p, "IpRanges"))) {
                r.cidrs.push_back(said(range, {"CidrIp"}).text);
            }
            for (const Node* pair : each(get(p, "UserIdGroupPairs"))) {
                r.groups.push_back(said(pair, {"GroupId"}).text);
                r.is_self = r.is_self || r.groups.back() == g.name;
            }
            g.rules.push_back(std::move(r));
        }
    }
    into.groups.push_back(std::move(g));
}

void read_fleet(const Document& d, Case& into) {
    Pool p = start_pool(Pool::Form::fleet, d, d.root, "fleet", d.root.where);
    for (const Node* config : each(get(&d.root, "LaunchTemplateConfigs"))) {
        for (const Node* o : each(get(config, "Overrides"))) {
            if (const Said type = said(o, {"InstanceType"})) p.types.push_back(type);
            if (const Said zone = said(o, {"AvailabilityZone"})) p.zones.push_back(zone);
            if (const Said subnet = said(o, {"SubnetId"})) p.subnets.push_back(subnet);
        }
    }
    const Node* target = get(&d.root, "TargetCapacitySpecification");
    p.desired = count(target, {"TotalTargetCapacity"});
    p.purchase = said(target, {"DefaultTargetCapacityType"});
    into.pools.push_back(std::move(p));
}

}  // namespace

Pool start_pool(Pool::Form form, const Document& d, const Node& node, std::string name,
                const Location& where) {
    Pool p;
    p.form = form;
    p.document = &d;
    p.node = &node;
    p.where = where;
    p.name = std::move(name);
    return p;
}

Said eks_purchase(Said capacity_type) {
    capacity_type.text = to_lower(capacity_type.text);
    std::replace(capacity_type.text.begin(), capacity_type.text.end(), '_', '-');
    return capacity_type;
}

void inherit(Pool& group, const Pool& from) {
    if (group.types.empty()) group.types = from.types;
    if (!group.placement) group.placement = from.placement;
    if (!group.efa) group.efa = from.efa;
    if (!group.purchase) group.purchase = from.purchase;
    if (!group.reservation) group.reservation = from.reservation;
}

Pool pool_of_launch_data(const Document& d, const Node& data) {
    Pool p = start_pool(Pool::Form::launch_template, d, data, {}, data.where);
    if (const Said type = said(&data, {"InstanceType"})) p.types.push_back(type);
    for (const Node* n : each(get(&data, "NetworkInterfaces"))) p.nics.push_back(nic_of(*n));
    p.purchase = said(&data, {"InstanceMarketOptions", "MarketType"});
    p.reservation = said(&data, {"CapacityReservationSpecification", "CapacityReservationTarget",
                                 "CapacityReservationId"});
    const Node* placement = get(&data, {"Placement", "GroupName"});
    if (placement != nullptr) p.placement = {placement->text(), key_of(*placement)};
    if (const Said zone = said(&data, {"Placement", "AvailabilityZone"})) p.zones.push_back(zone);
    for (const Nic& nic : p.nics) {
        if (nic.public_ip) p.public_ip = nic.public_ip;
        if (nic.is_efa()) p.efa = nic.type;
    }
    return p;
}

void read_ec2(const Document& d, Case& into) {
    if (d.kind == Kind::fleet) return read_fleet(d, into);
    if (d.kind == Kind::launch_template || d.kind == Kind::run_instances) {
        const Node* data = get(&d.root, "LaunchTemplateData");
        Pool p = pool_of_launch_data(d, data != nullptr ? *data : d.root);
        if (d.kind == Kind::run_instances) {
            p.form = Pool::Form::instance;
            p.desired = count(&d.root, {"MaxCount"});
        }
        p.name = said(&d.root, {"LaunchTemplateName"}).text;
        into.pools.push_back(std::move(p));
        return;
    }
    for (const Node* v : each(get(&d.root, "LaunchTemplateVersions"))) {
        if (const Node* data = get(v, "LaunchTemplateData")) {
            into.pools.push_back(pool_of_launch_data(d, *data));
        }
    }
    for (const Node* g : each(get(&d.root, "SecurityGroups"))) read_group(d, *g, into);
}

}  // namespace trainyard::lint
