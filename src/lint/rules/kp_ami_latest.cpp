// An image alias that moves.

#include "found.hpp"

namespace trainyard::lint::kp_ami_latest {

namespace {

void find(const Case& c, Found& found) {
    for (const Document* d : c.objects("EC2NodeClass")) {
        for (const doc::Node* term : each(get(&d->root, {"spec", "amiSelectorTerms"}))) {
            const Said alias = said(term, {"alias"});
            if (alias.text.ends_with("@latest") && !alias.text.starts_with("al2@")) {
                found.at(alias, "alias " + alias.text + " moves with every release");
            }
        }
    }
}

}  // namespace

Rule rule() {
    return {.id = "KP-AMI-LATEST",
            .severity = Severity::note,
            .title = "An image alias that follows the newest release",
            .applies = "Karpenter EC2NodeClass of pools with accelerators",
            .why =
                "a new image makes every node drift, and drift replaces nodes under a "
                "running job",
            .fix = "pin it: al2023@v20260818",
            .source = "Karpenter documentation, drift",
            .find = find};
}

}  // namespace trainyard::lint::kp_ami_latest
