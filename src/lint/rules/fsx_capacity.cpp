// Sizes that FSx for Lustre does not sell.

#include <fmt/format.h>

#include "found.hpp"

namespace trainyard::lint::fsx_capacity {

namespace {

struct Lustre {
    std::optional<Count> capacity, throughput;
    Said type;
    bool has_efa = false;
    Location where;
};

std::int64_t step_of(std::int64_t throughput) {
    switch (throughput) {
        case 125:
            return 38'400;
        case 250:
            return 19'200;
        case 500:
            return 9'600;
        case 1000:
            return 4'800;
        default:
            return 0;
    }
}

void judge(const Lustre& l, Found& found) {
    if (l.capacity) {
        const std::int64_t size = l.capacity->value;
        const std::int64_t step = l.has_efa && l.throughput ? step_of(l.throughput->value) : 0;
        const bool is_hdd = l.throughput && l.throughput->value < 50;
        const bool is_plain = size == 1200 || (size > 0 && size % 2400 == 0);
        const bool is_old = l.type.is("SCRATCH_1") && size == 3600;
        if (step > 0 && size % step != 0) {
            found
                .at(Said{std::to_string(size), l.capacity->where},
                    fmt::format("an EFA-enabled file system of {} GiB at {} MB/s/TiB", size,
                                l.throughput->value))
                .fix = fmt::format("a multiple of {} GiB", step);
        } else if (step == 0 && !is_plain && !is_hdd && !is_old) {
            found
                .at(Said{std::to_string(size), l.capacity->where},
                    fmt::format("{} GiB is neither 1200 nor a multiple of 2400", size))
                .fix = fmt::format("take {} GiB", (size / 2400 + 1) * 2400);
        }
    }
    const bool is_second = l.type.is("PERSISTENT_2");
    if (is_second && l.throughput && step_of(l.throughput->value) == 0) {
        found
            .at(Said{std::to_string(l.throughput->value), l.throughput->where},
                fmt::format("PERSISTENT_2 with {} MB/s/TiB", l.throughput->value))
            .fix = "125, 250, 500 or 1000";
    }
    if (l.has_efa && l.type && !is_second) {
        found.at(l.type, "EFA needs PERSISTENT_2, here is " + l.type.text).fix =
            "DeploymentType: PERSISTENT_2";
    }
    if (l.type.text.starts_with("SCRATCH") && l.throughput) {
        found
            .at(Said{std::to_string(l.throughput->value), l.throughput->where},
                l.type.text + " takes no PerUnitStorageThroughput")
            .fix = "remove it, or take PERSISTENT_2";
    }
}

Lustre of_aws(const doc::Node* settings, const doc::Node* outer) {
    Lustre l;
    l.capacity = count(outer, {"StorageCapacity"});
    l.throughput = count(settings, {"PerUnitStorageThroughput"});
    l.type = said(settings, {"DeploymentType"});
    l.has_efa = is_true(get(settings, "EfaEnabled"));
    return l;
}

void find(const Case& c, Found& found) {
    for (const Document* d : c.of_kind(Kind::parallelcluster)) {
        for (const doc::Node* s : each(get(&d->root, "SharedStorage"))) {
            const doc::Node* settings = get(s, "FsxLustreSettings");
            judge(of_aws(settings, settings), found);
        }
    }
    for (const Document* d : c.of_kind(Kind::fsx_request)) {
        if (!said(&d->root, {"FileSystemType"}).is("LUSTRE")) continue;
        judge(of_aws(get(&d->root, "LustreConfiguration"), &d->root), found);
    }
    for (const Resource& r : c.resources) {
        if (r.type == "AWS::FSx::FileSystem" && said(r.body, {"FileSystemType"}).is("LUSTRE")) {
            judge(of_aws(get(r.body, "LustreConfiguration"), r.body), found);
        }
        if (r.type != "aws_fsx_lustre_file_system") continue;
        Lustre l;
        l.capacity = count(r.body, {"storage_capacity"});
        l.throughput = count(r.body, {"per_unit_storage_throughput"});
        l.type = said(r.body, {"deployment_type"});
        l.has_efa = is_true(get(r.body, "efa_enabled"));
        judge(l, found);
    }
}

}  // namespace

Rule rule() {
    return {.id = "FSX-CAPACITY",
            .severity = Severity::error,
            .title = "A storage capacity or throughput that FSx for Lustre does not offer",
            .applies = "ParallelCluster, Terraform, CloudFormation, FSx requests",
            .why = "the file system is refused, and with it the stack",
            .fix =
                "1200 GiB or a multiple of 2400; with EFA a multiple of 38400, 19200, "
                "9600 or 4800 GiB for 125, 250, 500 or 1000 MB/s/TiB",
            .source =
                "FSx for Lustre user guide, storage capacity and EFA-enabled file "
                "systems",
            .find = find};
}

}  // namespace trainyard::lint::fsx_capacity
