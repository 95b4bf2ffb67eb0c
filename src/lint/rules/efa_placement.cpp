// EFA in ParallelCluster without a word on placement.

#include <fmt/format.h>

#include "found.hpp"

namespace trainyard::lint::efa_placement {

namespace {

/// "PlacementGroup: {}" says nothing.
bool states(const doc::Node* group) {
    return group != nullptr && (!group->is(doc::Node::Kind::map) || !group->members().empty());
}

void find(const Case& c, Found& found) {
    for (const Pool& p : c.pools) {
        if (p.form != Pool::Form::parallelcluster || !p.efa) continue;
        const bool is_stated = states(get(p.outer, {"Networking", "PlacementGroup"})) ||
                               states(get(p.node, {"Networking", "PlacementGroup"}));
        if (is_stated || p.purchase.is("capacity-block")) continue;
        found.at(p.efa, fmt::format("compute resource {} has EFA, and its queue says nothing on a "
                                    "placement group",
                                    p.name));
    }
}

}  // namespace

Rule rule() {
    return {.id = "EFA-PLACEMENT",
            .severity = Severity::error,
            .title = "Efa.Enabled without an explicit PlacementGroup",
            .applies = "ParallelCluster",
            .why =
                "ParallelCluster refuses the configuration: it wants the choice to be "
                "made; nodes far apart talk slower",
            .fix =
                "Networking: {PlacementGroup: {Enabled: true}}, or false with a "
                "reservation that places the nodes",
            .source = "ParallelCluster EfaPlacementGroupValidator",
            .find = find};
}

}  // namespace trainyard::lint::efa_placement
