// Files for another region than the plan's.

#include <fmt/format.h>

#include <cctype>

#include "found.hpp"
#include "planned.hpp"

namespace trainyard::lint::plan_zone {

namespace {

/// us-east-1 of us-east-1a; "" if the text is no zone.
std::string_view region_of(std::string_view zone) {
    const bool is_zone = zone.size() >= 10 && zone.size() <= 26 &&
                         std::islower(static_cast<unsigned char>(zone.back())) != 0 &&
                         std::isdigit(static_cast<unsigned char>(zone[zone.size() - 2])) != 0;
    return is_zone ? zone.substr(0, zone.size() - 1) : std::string_view();
}

void judge(const Case& c, const Said& said, std::string_view region, Found& found) {
    if (!said || region.empty() || is_open(said.text) || region == c.plan->region.text) return;
    against_plan(
        found, said, c.plan->region.where,
        fmt::format("{} is not in {}, the region of the plan", said.text, c.plan->region.text))
        .fix = c.plan->region.text;
}

void judge_region(const Case& c, const Said& said, Found& found) {
    judge(c, said, said.text, found);
}

void judge_zones(const Case& c, const std::vector<Said>& zones, Found& found) {
    for (const Said& z : zones) judge(c, z, region_of(z.text), found);
}

void find(const Case& c, Found& found) {
    if (c.plan == nullptr || !c.plan->region) return;
    for (const Document& d : c.documents) {
        if (d.kind == Kind::parallelcluster) judge_region(c, said(&d.root, {"Region"}), found);
        if (d.kind == Kind::eksctl) judge_region(c, said(&d.root, {"metadata", "region"}), found);
        if (d.kind != Kind::terraform) continue;
        for (const doc::Node* provider : each(get(&d.root, "provider"))) {
            const auto labels = all_said(get(provider, "#labels"));
            if (labels.size() == 1 && labels[0].is("aws") && get(provider, "alias") == nullptr) {
                judge_region(c, said(provider, {"region"}), found);
            }
        }
    }
    for (const Pool& p : c.pools) judge_zones(c, p.zones, found);
    for (const Job& j : c.jobs) judge_zones(c, j.zones, found);
}

}  // namespace

Rule rule() {
    return {.id = "PLAN-ZONE",
            .severity = Severity::error,
            .title = "A zone or region that is not the plan's",
            .applies = "ParallelCluster, Karpenter, eksctl, pods, Terraform, with --plan",
            .why =
                "prices, spot capacity and Capacity Blocks of the plan are those of its region; "
                "data and checkpoints elsewhere cross regions and are billed by the gigabyte",
            .fix = "take the plan's region, or plan again with --regions",
            .source = "docs/reference/check.md, --plan",
            .find = find};
}

}  // namespace trainyard::lint::plan_zone
