// /dev/infiniband mounted by hand beside the device plugin.

#include "found.hpp"

namespace trainyard::lint::efa_hostpath {

namespace {

void find(const Case& c, Found& found) {
    for (const Job& job : c.jobs) {
        for (const doc::Node* v : each(get(job.spec, "volumes"))) {
            const Said path = said(v, {"hostPath", "path"});
            if (!path.text.starts_with("/dev/infiniband")) continue;
            Finding& f = found.at(path, "/dev/infiniband is mounted from the host");
            if (!job.efa) f.severity = Severity::warning;
        }
    }
}

}  // namespace

Rule rule() {
    return {.id = "EFA-HOSTPATH",
            .severity = Severity::error,
            .title = "hostPath /dev/infiniband together with an EFA request",
            .applies = "Kubernetes pods",
            .why =
                "the mount hides the devices that the plugin injects and shows foreign "
                "ones: libfabric finds no EFA provider and NCCL goes over TCP",
            .fix = "remove the volume and its mount; the device plugin brings the devices",
            .source = "aws-samples/aws-do-eks#63",
            .find = find};
}

}  // namespace trainyard::lint::efa_hostpath
