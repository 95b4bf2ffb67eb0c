// V100 under images whose driver has dropped it.

#include <fmt/format.h>

#include "facts.hpp"
#include "found.hpp"

namespace trainyard::lint::hw_p3_driver {

namespace {

void find(const Case& c, Found& found) {
    for (const Pool& p : c.pools) {
        if (p.form != Pool::Form::parallelcluster) continue;
        const bool has_own = get(&p.document->root, {"Image", "CustomAmi"}) != nullptr ||
                             get(p.outer, {"Image", "CustomAmi"}) != nullptr;
        if (has_own) continue;
        for (const Said& t : p.types) {
            const std::string_view family = facts::family_of(t.text);
            if (family != "p3" && family != "p3dn" && family != "p2") continue;
            found
                .at(t, fmt::format("{} has GPUs that the driver of official images does not know",
                                   t.text))
                .waste = price_of(c, t.text, 1);
        }
    }
}

}  // namespace

Rule rule() {
    return {.id = "HW-P3-DRIVER",
            .severity = Severity::error,
            .title = "P3 with official ParallelCluster images",
            .applies = "ParallelCluster",
            .why =
                "since 3.8 the images carry the open NVIDIA kernel driver, which does "
                "not drive V100: nodes come up, are billed and have no GPU",
            .fix =
                "take another family, or a custom AMI with the closed driver (R580 or "
                "older)",
            .source = "aws/aws-parallelcluster#6014",
            .holds_for = "ParallelCluster 3.8 and later",
            .find = find};
}

}  // namespace trainyard::lint::hw_p3_driver
