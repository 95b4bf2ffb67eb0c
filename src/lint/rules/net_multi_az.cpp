// Nodes of one EFA job in several Availability Zones.

#include <fmt/format.h>

#include <algorithm>

#include "facts.hpp"
#include "found.hpp"

namespace trainyard::lint::net_multi_az {

namespace {

const Said* second(const Pool& p) {
    if (p.zones.size() > 1) return &p.zones[1];
    if (p.zones.empty() && p.subnets.size() > 1) return &p.subnets[1];
    return nullptr;
}

std::string listed(const std::vector<Said>& words) {
    std::string all;
    for (const Said& w : words) all += (all.empty() ? "" : ", ") + w.text;
    return all;
}

void judge_karpenter(const Case& c, const Pool& p, Found& found) {
    const Said* at = second(p);
    if (at == nullptr) return;
    for (const Job& job : c.jobs) {
        const bool uses_fabric = job.is_multi_node() && job.efa && job.efa->value > 0;
        if (!uses_fabric || job.zones.size() == 1) continue;
        const doc::Node* together =
            get(job.spec,
                {"affinity", "podAffinity", "requiredDuringSchedulingIgnoredDuringExecution"});
        const auto& pools = c.pools_of(job);
        if (together != nullptr || std::find(pools.begin(), pools.end(), &p) == pools.end()) {
            continue;
        }
        const bool by_zone = !p.zones.empty();
        found
            .at(*at, fmt::format("the EFA job {} can spread over {} ({})", job.name,
                                 by_zone ? "several zones" : "several subnets",
                                 listed(by_zone ? p.zones : p.subnets)))
            .related.push_back({job.where, "the job has no zone of its own"});
        return;
    }
}

/// A fleet that may start nodes of an EFA type in several zones.
void judge_fleet(const Case& c, const Pool& p, Found& found) {
    const bool is_single = is_true(get(p.node, {"OnDemandOptions", "SingleAvailabilityZone"})) ||
                           is_true(get(p.node, {"SpotOptions", "SingleAvailabilityZone"}));
    const bool is_one_node = p.desired && p.desired->value <= 1;
    const bool has_efa = std::all_of(p.types.begin(), p.types.end(), [&](const Said& t) {
        const catalog::Instance* i = c.instance(t.text);
        return i != nullptr && facts::is_block_type(t.text) && facts::is_multi_card(*i);
    });
    if (is_single || is_one_node || p.types.empty() || !has_efa) return;
    for (const Said& zone : p.zones) {
        if (zone.text == p.zones.front().text || is_open(zone.text)) continue;
        found
            .at(zone, fmt::format("the fleet may start {} in {} and {}", p.types.front().text,
                                  p.zones.front().text, zone.text))
            .fix = "SingleAvailabilityZone: true (Type instant), or overrides of one zone";
        return;
    }
}

void find(const Case& c, Found& found) {
    for (const Pool& p : c.pools) {
        if (p.form == Pool::Form::karpenter) {
            judge_karpenter(c, p, found);
            continue;
        }
        if (p.form == Pool::Form::fleet) {
            judge_fleet(c, p, found);
            continue;
        }
        const Said* at = second(p);
        const bool is_group = p.form == Pool::Form::parallelcluster ||
                              p.form == Pool::Form::eksctl || p.form == Pool::Form::node_group;
        if (at == nullptr || !is_group || (!p.efa && !p.placement)) continue;
        const bool is_one_node = p.max && p.max->value <= 1;
        if (is_one_node || is_open(at->text)) continue;
        const std::size_t many = p.zones.empty() ? p.subnets.size() : p.zones.size();
        Finding& f = found.at(
            *at, fmt::format("{} \"{}\" with {} is given {} {}: {}",
                             p.form == Pool::Form::parallelcluster ? "queue of" : "node group",
                             p.name, p.efa ? "EFA" : "a placement group", many,
                             p.zones.empty() ? "subnets" : "zones",
                             listed(p.zones.empty() ? p.subnets : p.zones)));
        f.fix = "give exactly one";
    }
}

}  // namespace

Rule rule() {
    return {.id = "NET-MULTI-AZ",
            .severity = Severity::error,
            .title = "An EFA job or a placement group that spans Availability Zones",
            .applies = "Karpenter, eksctl, ParallelCluster, Terraform node groups",
            .why =
                "EFA and cluster placement groups do not reach across zones: NCCL hangs"
                " or crawls, or the nodes do not start while the others are billed",
            .fix = "pin one zone (topology.kubernetes.io/zone) or give exactly one subnet",
            .source =
                "EC2 user guide, EFA limitations; skypilot-org/skypilot#10056; "
                "terraform-aws-eks#3044",
            .find = find};
}

}  // namespace trainyard::lint::net_multi_az
