// A CPU limit that cuts the pool to fewer nodes than it looks.

#include <fmt/format.h>

#include <set>

#include "found.hpp"

namespace trainyard::lint::kp_limit_odd {

namespace {

void find(const Case& c, Found& found) {
    for (const Pool& p : c.pools) {
        if (p.form != Pool::Form::karpenter) continue;
        const auto limit = count(p.node, {"spec", "limits", "cpu"});
        if (!limit) continue;
        std::string fits;
        bool is_odd = false;
        std::set<std::string> seen;
        for (const Said& t : p.types) {
            const catalog::Instance* i = c.instance(t.text);
            if (i == nullptr || i->accelerator.empty() || i->vcpu < 90) continue;
            if (!seen.insert(t.text).second) continue;
            is_odd = is_odd || limit->value % i->vcpu != 0;
            fits += fmt::format("{}{} x {}", fits.empty() ? "" : " or ", limit->value / i->vcpu,
                                t.text);
        }
        const bool has_gpu_limit = get(p.node, {"spec", "limits", "nvidia.com/gpu"}) != nullptr;
        if (!is_odd || has_gpu_limit) continue;
        found.at(Said{std::to_string(limit->value), limit->where},
                 fmt::format("limits.cpu {} admits only {}", limit->value, fits));
    }
}

}  // namespace

Rule rule() {
    return {.id = "KP-LIMIT-ODD",
            .severity = Severity::warning,
            .title = "limits.cpu is no whole number of nodes",
            .applies = "Karpenter NodePools with one type of accelerated instance",
            .why =
                "the remainder can never be used, and the number of nodes that fit is "
                "smaller than the limit suggests",
            .fix =
                "set the limit to a multiple of the type's vCPUs, and limit "
                "nvidia.com/gpu too",
            .source = "data/catalog/instances.csv",
            .find = find};
}

}  // namespace trainyard::lint::kp_limit_odd
