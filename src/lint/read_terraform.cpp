#include "model.hpp"
#include "trainyard/base/text.hpp"

namespace trainyard::lint {

using doc::Node;

namespace {

/// Terraform writes a single block in HCL as a list of one, and so does its plan.
const Node* block(const Node* body, std::string_view name) {
    const auto all = each(get(body, name));
    return all.empty() ? nullptr : all.front();
}

Nic nic_of(const Node& n) {
    Nic nic;
    nic.where = n.where;
    nic.card = count(&n, {"network_card_index"});
    nic.device = count(&n, {"device_index"});
    nic.type = said(&n, {"interface_type"});
    if (is_true(get(&n, "associate_public_ip_address"))) {
        nic.public_ip = {"true", key_of(*get(&n, "associate_public_ip_address"))};
    }
    nic.subnet = said(&n, {"subnet_id"});
    nic.groups = all_said(get(&n, "security_groups"));
    return nic;
}

/// dynamic "network_interfaces" { content { … } }: one interface stands for all; its indexes are
/// expressions.
void read_dynamic_nics(const Node* body, Pool& p) {
    for (const Node* n : each(get(body, "dynamic"))) {
        const auto labels = all_said(get(n, "#labels"));
        if (labels.empty() || !labels.front().is("network_interfaces")) continue;
        if (const Node* content = block(n, "content")) p.nics.push_back(nic_of(*content));
    }
}

Pool pool_of(const Resource& r, Pool::Form form) {
    return start_pool(form, *r.document, *r.body, r.name, r.where);
}

Pool launch_pool(const Resource& r) {
    Pool p =
        pool_of(r, r.type == "aws_instance" ? Pool::Form::instance : Pool::Form::launch_template);
    if (const Said type = said(r.body, {"instance_type"})) p.types.push_back(type);
    for (const Node* n : each(get(r.body, "network_interfaces"))) p.nics.push_back(nic_of(*n));
    for (const Node* n : each(get(r.body, "network_interface"))) p.nics.push_back(nic_of(*n));
    read_dynamic_nics(r.body, p);
    const Node* public_ip = get(r.body, "associate_public_ip_address");
    if (is_true(public_ip)) p.public_ip = {"true", key_of(*public_ip)};
    p.purchase = said(block(r.body, "instance_market_options"), {"market_type"});
    const Node* spec = block(r.body, "capacity_reservation_specification");
    p.reservation = said(block(spec, "capacity_reservation_target"), {"capacity_reservation_id"});
    if (const Node* placement = block(r.body, "placement")) {
        if (const Said group = said(placement, {"group_name"})) p.placement = group;
    }
    for (const Nic& nic : p.nics) {
        if (nic.public_ip) p.public_ip = nic.public_ip;
        if (nic.is_efa()) p.efa = nic.type;
    }
    if (const Said group = said(r.body, {"placement_group"})) p.placement = group;
    return p;
}

Pool node_group(const Document& d, const Node& body, const std::string& name,
                const Location& where) {
    Pool p = start_pool(Pool::Form::node_group, d, body, name, where);
    p.types = all_said(get(&body, "instance_types"));
    p.image = said(&body, {"ami_type"});
    if (get(&body, "ami_id") != nullptr) p.image = {};
    for (const std::string_view key : {"enable_efa_support", "enable_efa_only"}) {
        if (is_true(get(&body, key))) p.efa = said(get(&body, key));
    }
    const Node* scaling = block(&body, "scaling_config");
    const Node* sizes = scaling != nullptr ? scaling : &body;
    p.min = count(sizes, {"min_size"});
    p.max = count(sizes, {"max_size"});
    p.desired = count(sizes, {"desired_size"});
    p.subnets = all_said(get(&body, "subnet_ids"));
    p.purchase = eks_purchase(said(&body, {"capacity_type"}));
    const Node* placement = block(&body, "placement");
    if (placement != nullptr) p.placement = said(placement, {"group_name"});
    if (is_true(get(&body, "create_placement_group"))) {
        p.placement = said(get(&body, "create_placement_group"));
    }
    return p;
}

/// An Auto Scaling group; what its nodes are stands in its launch template.
Pool scaling_group(const Resource& r) {
    Pool p = pool_of(r, Pool::Form::node_group);
    p.min = count(r.body, {"min_size"});
    p.max = count(r.body, {"max_size"});
    p.desired = count(r.body, {"desired_capacity"});
    p.subnets = all_said(get(r.body, "vpc_zone_identifier"));
    p.zones = all_said(get(r.body, "availability_zones"));
    p.placement = said(r.body, {"placement_group"});
    return p;
}

/// Groups that refer to aws_launch_template.NAME among the pools.
void join_templates(Case& into, std::size_t first) {
    for (std::size_t i = first; i < into.pools.size(); ++i) {
        Pool& group = into.pools[i];
        if (group.form != Pool::Form::node_group) continue;
        const Node* use = block(group.node, "launch_template");
        const std::string ref = said(use, {"id"}).text + said(use, {"name"}).text;
        for (std::size_t k = first; k < into.pools.size(); ++k) {
            const Pool& from = into.pools[k];
            const bool is_it =
                from.form == Pool::Form::launch_template &&
                ref.find("aws_launch_template." + from.name + ".") != std::string::npos;
            if (is_it) inherit(group, from);
        }
    }
}

/// A lone EFA interface, to be attached to an instance: it tells which groups carry EFA.
void read_lone_nic(const Resource& r, Case& into) {
    Nic nic = nic_of(*r.body);
    if (!nic.is_efa()) return;
    Pool p = pool_of(r, Pool::Form::instance);
    p.efa = nic.type;
    p.nics.push_back(std::move(nic));
    into.pools.push_back(std::move(p));
}

void read_group_rule(const Node& n, bool is_ingress, const std::string& own, SecurityGroup& g) {
    GroupRule r;
    r.is_ingress = is_ingress;
    r.where = key_of(n);
    r.protocol = to_lower(said(&n, {"protocol"}).text);
    if (r.protocol.empty()) r.protocol = to_lower(said(&n, {"ip_protocol"}).text);
    if (r.protocol == "all") r.protocol = "-1";
    if (const auto from = count(&n, {"from_port"})) r.from = static_cast<int>(from->value);
    if (const auto to = count(&n, {"to_port"})) r.to = static_cast<int>(to->value);
    r.is_self = is_true(get(&n, "self"));
    for (const std::string_view key : {"cidr_blocks", "cidr_ipv4"}) {
        for (const Said& c : all_said(get(&n, key))) r.cidrs.push_back(c.text);
    }
    for (const std::string_view key :
         {"security_groups", "source_security_group_id", "referenced_security_group_id"}) {
        for (const Said& s : all_said(get(&n, key))) {
            r.groups.push_back(s.text);
            if (!own.empty() && s.text.find(own + ".id") != std::string::npos) r.is_self = true;
        }
    }
    g.rules.push_back(std::move(r));
}

void read_group(const Resource& r, Case& into) {
    SecurityGroup g;
    g.document = r.document;
    g.name = r.type + "." + r.name;
    g.title = said(r.body, {"name"}).text + " " + said(r.body, {"description"}).text;
    g.where = r.where;
    g.is_whole = get(r.body, "dynamic") == nullptr;
    for (const bool is_ingress : {true, false}) {
        const Node* blocks = get(r.body, is_ingress ? "ingress" : "egress");
        for (const Node* n : each(blocks)) {
            if (n->is(Node::Kind::map)) read_group_rule(*n, is_ingress, g.name, g);
        }
    }
    into.groups.push_back(std::move(g));
}

/// Rules that stand alone: aws_security_group_rule, aws_vpc_security_group_{in,e}gress_rule.
void read_lone_rule(const Resource& r, Case& into) {
    const bool is_new = r.type.starts_with("aws_vpc_security_group_");
    if (!is_new && r.type != "aws_security_group_rule") return;
    const std::string to = said(r.body, {"security_group_id"}).text;
    const bool is_ingress =
        is_new ? r.type.find("ingress") != std::string::npos : said(r.body, {"type"}).is("ingress");
    for (SecurityGroup& g : into.groups) {
        if (to.find(g.name + ".") != std::string::npos) {
            read_group_rule(*r.body, is_ingress, g.name, g);
        }
    }
}

void read_module(const Document& d, const Node& module, Case& into) {
    const std::vector<Said> labels = all_said(get(&module, "#labels"));
    into.resources.push_back(
        {&d, "module", labels.empty() ? "" : labels.back().text, module.where, &module});
    for (const std::string_view key : {"eks_managed_node_groups", "self_managed_node_groups"}) {
        const Node* groups = get(&module, key);
        if (groups == nullptr || !groups->is(Node::Kind::map)) continue;
        for (const auto& [name, body] : groups->members()) {
            into.pools.push_back(node_group(d, body, name, key_of(body)));
        }
    }
}

void read_planned(const Document& d, const Node* module, int depth, Case& into) {
    for (const Node* r : each(get(module, "resources"))) {
        const Node* values = get(r, "values");
        if (values == nullptr) continue;
        into.resources.push_back(
            {&d, said(r, {"type"}).text, said(r, {"name"}).text, values->where, values});
    }
    if (depth > 16) return;
    for (const Node* child : each(get(module, "child_modules"))) {
        read_planned(d, child, depth + 1, into);
    }
}

}  // namespace

void read_terraform(const Document& d, Case& into) {
    const std::size_t first = into.resources.size();
    const std::size_t first_pool = into.pools.size();
    for (const Node* r : each(get(&d.root, "resource"))) {
        const std::vector<Said> labels = all_said(get(r, "#labels"));
        if (labels.size() == 2) {
            into.resources.push_back({&d, labels[0].text, labels[1].text, r->where, r});
        }
    }
    for (const Node* m : each(get(&d.root, "module"))) read_module(d, *m, into);
    read_planned(d, get(&d.root, {"planned_values", "root_module"}), 0, into);
    const std::vector<Resource> mine(into.resources.begin() + static_cast<std::ptrdiff_t>(first),
                                     into.resources.end());
    for (const Resource& r : mine) {
        if (r.type == "aws_instance" || r.type == "aws_launch_template") {
            into.pools.push_back(launch_pool(r));
        } else if (r.type == "aws_eks_node_group") {
            into.pools.push_back(node_group(d, *r.body, r.name, r.where));
        } else if (r.type == "aws_autoscaling_group") {
            into.pools.push_back(scaling_group(r));
        } else if (r.type == "aws_network_interface") {
            read_lone_nic(r, into);
        } else if (r.type == "aws_security_group") {
            read_group(r, into);
        }
    }
    for (const Resource& r : mine) read_lone_rule(r, into);
    join_templates(into, first_pool);
}

}  // namespace trainyard::lint
