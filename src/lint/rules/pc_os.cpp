// Operating systems that ParallelCluster has dropped.

#include "found.hpp"

namespace trainyard::lint::pc_os {

namespace {

struct End {
    std::string_view os;
    std::string_view when;
    Severity severity;
};
constexpr End kEnds[] = {
    {"alinux2", "ParallelCluster 3.15 was the last release with it; Amazon Linux 2 is at its end",
     Severity::error},
    {"alinux", "removed in ParallelCluster 3", Severity::error},
    {"ubuntu2004", "removed in ParallelCluster 3.14", Severity::error},
    {"ubuntu1804", "removed in ParallelCluster 3.7", Severity::error},
    {"centos7", "removed in ParallelCluster 3.12", Severity::error}};

void find(const Case& c, Found& found) {
    for (const Document* d : c.of_kind(Kind::parallelcluster)) {
        const Said os = said(&d->root, {"Image", "Os"});
        for (const End& e : kEnds) {
            if (!os.is(e.os)) continue;
            Finding& f = found.at(os, "Os: " + os.text + " is no longer supported");
            f.severity = e.severity;
            f.holds_for = e.when;
            f.edits.push_back(
                {os.where, os.text, os.text.starts_with("ubuntu") ? "ubuntu2204" : "alinux2023"});
        }
    }
}

}  // namespace

Rule rule() {
    return {.id = "PC-OS",
            .severity = Severity::error,
            .title = "An operating system that ParallelCluster no longer supports",
            .applies = "ParallelCluster",
            .why =
                "current releases refuse it, and an old release gets no driver for new "
                "instances and no security fixes",
            .fix = "Os: alinux2023, ubuntu2204 or ubuntu2404",
            .source = "aws/aws-parallelcluster CHANGELOG",
            .find = find};
}

}  // namespace trainyard::lint::pc_os
