// Security groups that only the head node has.

#include <fmt/format.h>

#include "found.hpp"

namespace trainyard::lint::pc_head_groups {

namespace {

bool names_groups(const doc::Node* networking) {
    return get(networking, "AdditionalSecurityGroups") != nullptr ||
           get(networking, "SecurityGroups") != nullptr;
}

void find(const Case& c, Found& found) {
    for (const Document* d : c.of_kind(Kind::parallelcluster)) {
        const doc::Node* head = get(&d->root, {"HeadNode", "Networking"});
        if (!names_groups(head)) continue;
        bool is_alone = false;
        for (const doc::Node* queue : each(get(&d->root, {"Scheduling", "SlurmQueues"}))) {
            is_alone = true;
            if (!names_groups(get(queue, "Networking"))) continue;
            is_alone = false;
            break;
        }
        if (!is_alone) continue;
        for (const std::string_view key : {"AdditionalSecurityGroups", "SecurityGroups"}) {
            for (const Said& group : all_said(get(head, key))) {
                found.at(group,
                         fmt::format("{} is on the head node only, no queue has it", group.text));
            }
        }
    }
}

}  // namespace

Rule rule() {
    return {.id = "PC-HEAD-GROUPS",
            .severity = Severity::note,
            .title = "Security groups on the head node only",
            .applies = "ParallelCluster",
            .why =
                "what the group opens (a file system, a licence server) is open to the head node "
                "and closed to the nodes that train",
            .fix = "name the group in the queue's Networking, too, unless it is for logins only",
            .source = "ParallelCluster documentation, Networking AdditionalSecurityGroups",
            .certainty = Certainty::account,
            .find = find};
}

}  // namespace trainyard::lint::pc_head_groups
