// An alias among other terms.

#include "found.hpp"

namespace trainyard::lint::kp_alias_alone {

namespace {

void find(const Case& c, Found& found) {
    for (const Document* d : c.objects("EC2NodeClass")) {
        const auto terms = each(get(&d->root, {"spec", "amiSelectorTerms"}));
        for (const doc::Node* t : terms) {
            const Said alias = said(t, {"alias"});
            const bool is_alone = terms.size() == 1 && t->members().size() == 1;
            if (alias && !is_alone) {
                found.at(alias, "alias " + alias.text + " does not stand alone");
                break;
            }
        }
    }
}

}  // namespace

Rule rule() {
    return {.id = "KP-ALIAS-ALONE",
            .severity = Severity::error,
            .title = "An AMI alias beside other selector terms",
            .applies = "Karpenter EC2NodeClass",
            .why = "the API server refuses the class: an alias must stand alone",
            .fix = "keep the alias only, or select by id or tags with an amiFamily",
            .source = "Karpenter CRD karpenter.k8s.aws/v1",
            .find = find};
}

}  // namespace trainyard::lint::kp_alias_alone
