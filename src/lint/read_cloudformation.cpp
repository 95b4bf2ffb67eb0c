#include "model.hpp"
#include "trainyard/base/text.hpp"

namespace trainyard::lint {

using doc::Node;

namespace {

/// "Efa" of {Ref: Efa} or {Fn::GetAtt: [Efa, GroupId]} or "Efa.GroupId".
std::string referred(const Node* n) {
    if (n == nullptr) return {};
    if (const Said ref = said(n, {"Ref"})) return ref.text;
    if (const Node* attribute = get(n, "Fn::GetAtt")) {
        const auto parts = all_said(attribute);
        return parts.empty() ? "" : parts.front().text.substr(0, parts.front().text.find('.'));
    }
    if (n->is(Node::Kind::list) && !n->items().empty()) return said(&n->items().front()).text;
    return n->text().substr(0, n->text().find('.'));
}

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
        r.groups.push_back(referred(get(&n, key)));
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
        for (const Node* n : each(get(body, "SecurityGroupIngress"))) add_rule(*n, true, g);
        for (const Node* n : each(get(body, "SecurityGroupEgress"))) add_rule(*n, false, g);
        into.groups.push_back(std::move(g));
    }
    for (const auto& [name, r] : resources.members()) {
        const Said type = said(&r, {"Type"});
        const bool is_ingress = type.is("AWS::EC2::SecurityGroupIngress");
        if (!is_ingress && !type.is("AWS::EC2::SecurityGroupEgress")) continue;
        const Node* body = get(&r, "Properties");
        const std::string to = referred(get(body, "GroupId"));
        for (std::size_t i = first; body != nullptr && i < into.groups.size(); ++i) {
            if (into.groups[i].name == to) add_rule(*body, is_ingress, into.groups[i]);
        }
    }
}

}  // namespace

void read_cloudformation(const Document& d, Case& into) {
    const Node* resources = get(&d.root, "Resources");
    if (resources == nullptr || !resources->is(Node::Kind::map)) return;
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
        }
    }
    read_groups(d, *resources, into);
}

}  // namespace trainyard::lint
