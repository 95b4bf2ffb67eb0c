// Requirements that no instance type meets.

#include <fmt/ranges.h>

#include <set>

#include "facts.hpp"
#include "found.hpp"

namespace trainyard::lint::kp_empty_req {

namespace {

bool looks_accelerated(std::string_view family) {
    for (const std::string_view start : {"p", "g", "trn", "inf", "dl"}) {
        if (family.starts_with(start) && family.size() > start.size() &&
            family[start.size()] >= '0' && family[start.size()] <= '9') {
            return true;
        }
    }
    return false;
}

/// Families that EC2 has (or had) and our catalogue leaves out.
bool is_left_out(std::string_view family) { return is_one_of(family, {"g2", "g3", "g3s", "p1"}); }

std::string like(const Case& c, std::string_view family) {
    std::set<std::string> all;
    for (const catalog::Instance& i : c.catalog->instances()) {
        if (i.family.starts_with(family)) all.insert(i.family);
    }
    return fmt::format("{}", fmt::join(all, ", "));
}

void judge(const Case& c, const Said& key, const Said& value, Found& found) {
    if (is_open(value.text)) return;
    if (key.is("karpenter.k8s.aws/instance-family")) {
        if (!looks_accelerated(value.text) || c.has_family(value.text)) return;
        if (is_left_out(value.text)) return;
        const std::string others = like(c, value.text);
        Finding& f =
            found.at(value, fmt::format("instance family \"{}\" does not exist", value.text));
        if (!others.empty()) f.fix = "use " + others;
        return;
    }
    const std::string_view family = facts::family_of(value.text);
    if (!looks_accelerated(family) || is_left_out(family)) return;
    if (c.instance(value.text) != nullptr || value.text.find('.') == std::string::npos) return;
    Finding& f = found.at(value, fmt::format("instance type \"{}\" does not exist", value.text));
    const auto near = c.catalog->nearest_instance(value.text);
    if (near) f.fix = "did you mean " + *near + "?";
}

void find(const Case& c, Found& found) {
    for (const Document* d : c.objects("NodePool")) {
        const doc::Node* requirements = get(&d->root, {"spec", "template", "spec", "requirements"});
        for (const doc::Node* r : each(requirements)) {
            const Said key = said(r, {"key"});
            const bool is_meant = is_one_of(key.text, {"karpenter.k8s.aws/instance-family",
                                                       "node.kubernetes.io/instance-type"});
            if (!is_meant || !said(r, {"operator"}).is("In")) continue;
            for (const Said& value : all_said(get(r, "values"))) judge(c, key, value, found);
        }
    }
    for (const Job& job : c.jobs) {
        for (const Said& type : job.types) judge(c, Said{"type", type.where}, type, found);
    }
}

}  // namespace

Rule rule() {
    return {.id = "KP-EMPTY-REQ",
            .severity = Severity::error,
            .title = "A requirement that matches no instance type",
            .applies = "Karpenter NodePools, pods",
            .why =
                "pods that need this pool stay Pending until they time out, and nothing"
                " says why",
            .fix = "use the label as EC2 names it",
            .source = "Karpenter documentation, instance types; data/catalog/instances.csv",
            .find = find};
}

}  // namespace trainyard::lint::kp_empty_req
