// A NodePool whose class is another one.

#include <fmt/format.h>

#include <algorithm>

#include "found.hpp"

namespace trainyard::lint::kp_ref {

namespace {

void find(const Case& c, Found& found) {
    const auto classes = c.objects("EC2NodeClass");
    for (const Document* d : c.objects("NodePool")) {
        const doc::Node* ref = get(&d->root, {"spec", "template", "spec", "nodeClassRef"});
        const Said name = said(ref, {"name"});
        if (!name && classes.empty() && d->api.starts_with("karpenter.sh/")) {
            found
                .at(get(&d->root, "kind")->where, "NodePool without an EC2NodeClass in these files")
                .severity = Severity::note;
        }
        if (!name || is_open(name.text) || said(ref, {"kind"}).is("NodeClass")) continue;
        const bool is_there = std::any_of(classes.begin(), classes.end(), [&](const Document* o) {
            return said(&o->root, {"metadata", "name"}).text == name.text;
        });
        if (is_there) continue;
        // A repository may keep its classes elsewhere: only files given together are sure.
        Finding& f = found.at(name, fmt::format("no EC2NodeClass {} in these files", name.text));
        const bool is_same_file = !classes.empty() && classes.front()->source == d->source;
        if (!is_same_file) f.severity = Severity::note;
    }
}

}  // namespace

Rule rule() {
    return {.id = "KP-REF",
            .severity = Severity::error,
            .title = "nodeClassRef names a class that is not in the files",
            .applies = "Karpenter",
            .why = "the NodePool is not ready and makes no nodes",
            .fix = "name the EC2NodeClass that is there",
            .source = "Karpenter documentation, nodeClassRef",
            .certainty = Certainty::account,
            .find = find};
}

}  // namespace trainyard::lint::kp_ref
