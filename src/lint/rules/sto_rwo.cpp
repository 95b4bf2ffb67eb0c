// A volume of one node under a job of many.

#include <fmt/format.h>

#include <algorithm>

#include "found.hpp"

namespace trainyard::lint::sto_rwo {

namespace {

void find(const Case& c, Found& found) {
    for (const Job& job : c.jobs) {
        if (job.form != Job::Form::pod || !job.is_multi_node() || !job.is_training) continue;
        for (const doc::Node* v : each(get(job.spec, "volumes"))) {
            const Said claim = said(v, {"persistentVolumeClaim", "claimName"});
            if (!claim) continue;
            for (const Document* d : c.objects("PersistentVolumeClaim")) {
                if (said(&d->root, {"metadata", "name"}).text != claim.text) continue;
                const std::vector<Said> modes = all_said(get(&d->root, {"spec", "accessModes"}));
                const bool is_once = std::all_of(modes.begin(), modes.end(), [](const Said& m) {
                    return m.is("ReadWriteOnce") || m.is("ReadWriteOncePod");
                });
                if (modes.empty() || !is_once) continue;
                Finding& f =
                    found.at(modes.front(),
                             fmt::format("{} mounts claim {} on {} nodes, but it is {}", job.name,
                                         claim.text, job.nodes->value, modes.front().text));
                f.related.push_back({job.where, "the job"});
            }
        }
    }
}

}  // namespace

Rule rule() {
    return {.id = "STO-RWO",
            .severity = Severity::error,
            .title = "A ReadWriteOnce volume in a job of several nodes",
            .applies = "Kubernetes jobs with PersistentVolumeClaims",
            .why =
                "an EBS volume attaches to one node: the other pods stay in "
                "ContainerCreating while their nodes are billed",
            .fix = "ReadWriteMany on FSx for Lustre or EFS",
            .source = "Kubernetes documentation, access modes",
            .find = find};
}

}  // namespace trainyard::lint::sto_rwo
