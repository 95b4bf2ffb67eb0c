// A file system that the job's network cannot reach.

#include "found.hpp"

namespace trainyard::lint::sm_vpc_fsx {

namespace {

void find(const Case& c, Found& found) {
    for (const Training& t : c.trainings) {
        if (t.subnets || t.is_open) continue;
        for (const doc::Node* channel : each(t.channels)) {
            const doc::Node* fsx = get(channel, {"DataSource", "FileSystemDataSource"});
            const doc::Node* v3 = get(channel, "data_source");
            if (fsx == nullptr && said(v3, {"()"}).text.ends_with("FileSystemDataSource")) fsx = v3;
            if (fsx == nullptr && said(channel, {"()"}).text.ends_with("FileSystemInput")) {
                fsx = channel;
            }
            if (fsx == nullptr) continue;
            found.at(fsx->where, "the channel reads a file system, but the job has no subnets");
        }
    }
}

}  // namespace

Rule rule() {
    return {.id = "SM-VPC-FSX",
            .severity = Severity::error,
            .title = "An FSx channel without a VPC configuration",
            .applies = "SageMaker jobs",
            .why =
                "the job cannot mount the file system and fails after its start-up was "
                "billed",
            .fix =
                "VpcConfig with one subnet in the file system's zone, and its security "
                "group",
            .source = "SageMaker API, FileSystemDataSource",
            .find = find};
}

}  // namespace trainyard::lint::sm_vpc_fsx
