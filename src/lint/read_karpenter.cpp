#include <algorithm>

#include "model.hpp"

namespace trainyard::lint {

using doc::Node;

namespace {

const Node* class_of(const Case& c, const Node& pool) {
    const Said name = said(&pool, {"spec", "template", "spec", "nodeClassRef", "name"});
    for (const Document& d : c.documents) {
        if (d.kind != Kind::kubernetes || d.object_kind != "EC2NodeClass") continue;
        if (!name || said(&d.root, {"metadata", "name"}).text == name.text) return &d.root;
    }
    return nullptr;
}

/// Types that "In" requirements on family and size allow.
void types_of_families(const Case& c, const std::vector<Said>& families,
                       const std::vector<Said>& sizes, std::vector<Said>& types) {
    for (const catalog::Instance& i : c.catalog->instances()) {
        const auto family = std::find_if(families.begin(), families.end(),
                                         [&](const Said& f) { return f.text == i.family; });
        if (family == families.end() || i.retired) continue;
        const std::string size = i.type.substr(i.type.find('.') + 1);
        const bool fits = sizes.empty() || std::any_of(sizes.begin(), sizes.end(),
                                                       [&](const Said& s) { return s.is(size); });
        if (fits) types.push_back({i.type, family->where});
    }
}

void read_requirements(const Node* requirements, Pool& p, const Case& c) {
    std::vector<Said> families;
    std::vector<Said> sizes;
    for (const Node* r : each(requirements)) {
        const Said key = said(r, {"key"});
        if (!said(r, {"operator"}).is("In")) continue;
        const std::vector<Said> values = all_said(get(r, "values"));
        if (values.empty()) continue;
        if (key.is("node.kubernetes.io/instance-type")) p.types = values;
        if (key.is("topology.kubernetes.io/zone")) p.zones = values;
        if (key.is("karpenter.k8s.aws/instance-family")) families = values;
        if (key.is("karpenter.k8s.aws/instance-size")) sizes = values;
        if (key.is("karpenter.sh/capacity-type")) {
            p.purchases = values;
            p.purchase = values.front();
        }
    }
    if (p.types.empty()) types_of_families(c, families, sizes, p.types);
}

void read_nics(const Node* node_class, Pool& p) {
    for (const Node* n : each(get(node_class, {"spec", "networkInterfaces"}))) {
        Nic nic;
        nic.where = n->where;
        nic.card = count(n, {"networkCardIndex"});
        nic.device = count(n, {"deviceIndex"});
        nic.type = said(n, {"interfaceType"});
        if (nic.is_efa()) p.efa = nic.type;
        p.nics.push_back(std::move(nic));
    }
}

}  // namespace

void read_karpenter(Case& into) {
    for (const Document* d : into.objects("NodePool")) {
        Pool p;
        p.form = Pool::Form::karpenter;
        p.document = d;
        p.node = &d->root;
        p.outer = class_of(into, d->root);
        p.where = get(&d->root, "kind")->where;
        p.name = said(&d->root, {"metadata", "name"}).text;
        read_requirements(get(&d->root, {"spec", "template", "spec", "requirements"}), p, into);
        const Node* public_ip = get(p.outer, {"spec", "associatePublicIPAddress"});
        if (is_true(public_ip)) p.public_ip = {"true", key_of(*public_ip)};
        const Node* placement = get(p.outer, {"spec", "placementGroupSelector"});
        if (placement != nullptr) p.placement = key_said(*placement, "on");
        read_nics(p.outer, p);
        for (const Node* term : each(get(p.outer, {"spec", "subnetSelectorTerms"}))) {
            if (const Said id = said(term, {"id"})) p.subnets.push_back(id);
        }
        into.pools.push_back(std::move(p));
    }
}

void read_eksctl(const Document& d, Case& into) {
    for (const std::string_view list : {"managedNodeGroups", "nodeGroups"}) {
        for (const Node* group : each(get(&d.root, list))) {
            Pool p;
            p.form = Pool::Form::eksctl;
            p.document = &d;
            p.node = group;
            p.where = group->where;
            p.name = said(group, {"name"}).text;
            if (const Said type = said(group, {"instanceType"})) p.types.push_back(type);
            for (const Said& t : all_said(get(group, "instanceTypes"))) p.types.push_back(t);
            if (is_true(get(group, "efaEnabled"))) p.efa = said(group, {"efaEnabled"});
            const Node* is_private = get(group, "privateNetworking");
            if (p.efa && is_false(is_private)) p.public_ip = {"false", key_of(*is_private)};
            p.min = count(group, {"minSize"});
            p.max = count(group, {"maxSize"});
            p.desired = count(group, {"desiredCapacity"});
            p.zones = all_said(get(group, "availabilityZones"));
            p.subnets = all_said(get(group, "subnets"));
            if (is_true(get(group, "spot"))) p.purchase = {"spot", key_of(*get(group, "spot"))};
            const Said market = said(group, {"instanceMarketOptions", "marketType"});
            if (market) p.purchase = market;
            p.reservation = said(group, {"capacityReservation", "capacityReservationTarget",
                                         "capacityReservationID"});
            into.pools.push_back(std::move(p));
        }
    }
}

}  // namespace trainyard::lint
