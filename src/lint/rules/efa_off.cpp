// Nodes that could have EFA and do not.

#include <fmt/format.h>

#include <algorithm>

#include "facts.hpp"
#include "found.hpp"

namespace trainyard::lint::efa_off {

namespace {

/// Where EFA would be switched on, if this kind of group has a switch.
std::string_view switch_of(const Pool& p) {
    if (p.form == Pool::Form::parallelcluster) return "Efa: {Enabled: true}";
    if (p.form == Pool::Form::eksctl) return "efaEnabled: true";
    const bool is_module =
        p.form == Pool::Form::node_group && get(p.node, "launch_template") == nullptr &&
        get(p.node, "scaling_config") == nullptr && get(p.node, "instance_types") != nullptr &&
        get(p.node, "network_interfaces") == nullptr;
    return is_module ? "enable_efa_support = true" : "";
}

const doc::Node* said_off(const Pool& p) {
    for (const auto& path : {get(p.node, {"Efa", "Enabled"}), get(p.node, "efaEnabled"),
                             get(p.node, "enable_efa_support")}) {
        if (is_false(path)) return path;
    }
    return nullptr;
}

/// Every batch job beside the groups asks for one node: independent copies, a sweep.
bool is_all_on_one_node(const Case& c) {
    const auto jobs = c.of_kind(Kind::sbatch);
    return !jobs.empty() && std::all_of(jobs.begin(), jobs.end(), [](const Document* job) {
        const EnvVar* nodes = find_env(job->script.directives, "nodes");
        return nodes != nullptr && nodes->value.text == "1";
    });
}

void find(const Case& c, Found& found) {
    if (is_all_on_one_node(c)) return;
    for (const Pool& p : c.pools) {
        const std::string_view how = switch_of(p);
        const bool is_one_node = p.max && p.max->value <= 1;
        if (how.empty() || p.efa || is_one_node || p.types.size() != 1) continue;
        const Said& type = p.types.front();
        const catalog::Instance* i = c.instance(type.text);
        const bool is_for_many = i != nullptr && facts::is_block_type(type.text) &&
                                 facts::is_multi_card(*i) && i->efa_interfaces > 0;
        if (!is_for_many) continue;
        const doc::Node* off = said_off(p);
        Finding& f = found.at(
            off != nullptr ? Said{off->text(), off->where} : type,
            fmt::format("\"{}\" can have several {}, which has {} EFA interfaces, without EFA",
                        p.name, type.text, i->efa_interfaces));
        f.fix = fmt::format("{}, if jobs span nodes", how);
        const std::int64_t nodes = std::clamp<std::int64_t>(p.max ? p.max->value : 2, 2, 64);
        f.efficiency_lost = lost_over_tcp(c, type.text, nodes);
        const auto rate = price_of(c, type.text, nodes);
        if (f.efficiency_lost && rate) f.waste = *rate * *f.efficiency_lost;
    }
}

}  // namespace

Rule rule() {
    return {
        .id = "EFA-OFF",
        .severity = Severity::warning,
        .title = "Several nodes of a type with EFA, and EFA is not switched on",
        .applies = "ParallelCluster, eksctl, Terraform EKS module",
        .why =
            "traffic between the nodes goes over TCP without GPUDirect: a job of several nodes "
            "waits for the network in every step",
        .fix = "switch EFA on; it costs nothing",
        .source = "EC2 user guide, EFA; ParallelCluster user guide, Efa; eksctl documentation, EFA",
        .find = find};
}

}  // namespace trainyard::lint::efa_off
