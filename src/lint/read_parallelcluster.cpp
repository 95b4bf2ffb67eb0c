#include "model.hpp"
#include "trainyard/base/text.hpp"

namespace trainyard::lint {

using doc::Node;

namespace {

std::string purchase_of(std::string_view capacity_type) {
    std::string word = to_lower(capacity_type);
    for (char& ch : word) ch = ch == '_' ? '-' : ch;
    return word == "ondemand" ? "on-demand" : word;
}

void add_resource(const Document& d, const Node& queue, const Node& resource, Case& into) {
    Pool p;
    p.form = Pool::Form::parallelcluster;
    p.document = &d;
    p.node = &resource;
    p.outer = &queue;
    p.where = key_of(resource);
    p.name = said(&resource, {"Name"}).text;
    if (const Said type = said(&resource, {"InstanceType"})) p.types.push_back(type);
    for (const Node* i : each(get(&resource, "Instances"))) {
        if (const Said type = said(i, {"InstanceType"})) p.types.push_back(type);
    }
    const Node* efa = get(&resource, {"Efa", "Enabled"});
    if (is_true(efa)) p.efa = said(efa);
    p.min = count(&resource, {"MinCount"});
    p.max = count(&resource, {"MaxCount"});
    const Node* networking = get(&queue, "Networking");
    p.subnets = all_said(get(networking, "SubnetIds"));
    p.purchase = said(&queue, {"CapacityType"});
    if (p.purchase) p.purchase.text = purchase_of(p.purchase.text);
    for (const Node* level : {&resource, &queue}) {
        if (p.reservation) continue;
        const Node* target = get(level, "CapacityReservationTarget");
        p.reservation = said(target, {"CapacityReservationId"});
        if (!p.reservation) {
            p.reservation = said(target, {"CapacityReservationResourceGroupArn"});
        }
    }
    for (const Node* level : {get(&resource, "Networking"), networking}) {
        const Node* group = get(level, "PlacementGroup");
        if (group == nullptr || p.placement) continue;
        const bool has_name = get(group, "Name") != nullptr || get(group, "Id") != nullptr;
        if (is_true(get(group, "Enabled")) || has_name) p.placement = key_said(*group, "on");
    }
    const Node* public_ip = get(networking, "AssignPublicIp");
    if (is_true(public_ip)) p.public_ip = {"true", key_of(*public_ip)};
    into.pools.push_back(std::move(p));
}

}  // namespace

void read_parallelcluster(const Document& d, Case& into) {
    for (const Node* queue : each(get(&d.root, {"Scheduling", "SlurmQueues"}))) {
        for (const Node* resource : each(get(queue, "ComputeResources"))) {
            if (resource->is(Node::Kind::map)) add_resource(d, *queue, *resource, into);
        }
    }
}

}  // namespace trainyard::lint
