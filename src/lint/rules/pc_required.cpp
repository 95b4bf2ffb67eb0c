// Required keys of ParallelCluster.

#include <fmt/format.h>

#include "found.hpp"

namespace trainyard::lint::pc_required {

namespace {

void need(const doc::Node* parent, const Location& at, std::string_view name, std::string_view key,
          std::string_view example, Found& found) {
    if (get(parent, key) != nullptr) return;
    found.at(at, fmt::format("{} has no {}", name, key)).fix = fmt::format("add {}", example);
}

void check_queue(const doc::Node& queue, Found& found) {
    const std::string name = "queue " + said(&queue, {"Name"}).text;
    const Location at = queue.where;
    need(&queue, at, name, "Networking", "Networking: {SubnetIds: [subnet-…]}", found);
    if (const doc::Node* networking = get(&queue, "Networking")) {
        need(networking, key_of(*networking), name + " Networking", "SubnetIds",
             "SubnetIds: [subnet-…]", found);
    }
    need(&queue, at, name, "ComputeResources", "ComputeResources", found);
    for (const doc::Node* r : each(get(&queue, "ComputeResources"))) {
        if (get(r, "InstanceType") == nullptr) {
            need(r, r->where, "a compute resource", "Instances", "InstanceType or Instances",
                 found);
        }
    }
}

/// CAPACITY_BLOCK: the block itself must be named.
void check_blocks(const Case& c, Found& found) {
    for (const Pool& p : c.pools) {
        const bool is_block =
            p.form == Pool::Form::parallelcluster && p.purchase.is("capacity-block");
        if (!is_block || p.reservation) continue;
        found
            .at(p.purchase, fmt::format("queue {} is of CAPACITY_BLOCK, but compute resource {} "
                                        "names no reservation",
                                        said(p.outer, {"Name"}).text, p.name))
            .fix = "CapacityReservationTarget: {CapacityReservationId: cr-…}";
    }
}

void find(const Case& c, Found& found) {
    check_blocks(c, found);
    for (const Document* d : c.of_kind(Kind::parallelcluster)) {
        const doc::Node* head = get(&d->root, "HeadNode");
        const Location top = head != nullptr ? key_of(*head) : d->root.where;
        need(&d->root, top, "the configuration", "Image", "Image: {Os: alinux2023}", found);
        need(&d->root, top, "the configuration", "HeadNode", "HeadNode", found);
        if (head != nullptr) {
            need(head, top, "HeadNode", "InstanceType", "InstanceType", found);
            need(head, top, "HeadNode", "Networking", "Networking: {SubnetId: subnet-…}", found);
        }
        const doc::Node* scheduling = get(&d->root, "Scheduling");
        if (scheduling == nullptr) continue;
        need(scheduling, key_of(*scheduling), "Scheduling", "Scheduler", "Scheduler: slurm", found);
        for (const doc::Node* q : each(get(scheduling, "SlurmQueues"))) check_queue(*q, found);
    }
}

}  // namespace

Rule rule() {
    return {.id = "PC-REQUIRED",
            .severity = Severity::error,
            .title = "A key that ParallelCluster requires is missing",
            .applies = "ParallelCluster",
            .why = "the configuration is refused: no cluster is made",
            .fix = "add it",
            .source = "aws/aws-parallelcluster cli/src/pcluster/schemas/cluster_schema.py",
            .holds_for = "ParallelCluster 3",
            .find = find};
}

}  // namespace trainyard::lint::pc_required
