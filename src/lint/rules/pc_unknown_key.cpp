// Keys that ParallelCluster's schema does not have at that place.

#include <fmt/format.h>

#include <algorithm>

#include "found.hpp"
#include "trainyard/base/text.hpp"

namespace trainyard::lint::pc_unknown_key {

namespace {

using Keys = std::vector<std::string>;

struct Section {
    std::string_view path;
    Keys keys;
};

const std::vector<Section>& sections() {
    static const std::vector<Section> kSections = {
        {"",
         {"Region", "CustomS3Bucket", "Image", "HeadNode", "Scheduling", "SharedStorage",
          "Monitoring", "AdditionalPackages", "Tags", "Iam", "DirectoryService",
          "DeploymentSettings", "Imds", "LoginNodes", "DevSettings", "AdditionalResources"}},
        {"Image", {"Os", "CustomAmi"}},
        {"HeadNode",
         {"InstanceType", "Networking", "DisableSimultaneousMultithreading", "Ssh", "LocalStorage",
          "SharedStorageType", "Dcv", "CustomActions", "Iam", "Imds", "Image"}},
        {"HeadNode.Networking",
         {"SubnetId", "ElasticIp", "SecurityGroups", "AdditionalSecurityGroups", "Proxy"}},
        {"Scheduling",
         {"Scheduler", "AwsBatchSettings", "AwsBatchQueues", "SlurmSettings", "SlurmQueues",
          "ScalingStrategy"}},
        {"Scheduling.SlurmQueues",
         {"Name", "CapacityReservationTarget", "CapacityType", "AllocationStrategy",
          "JobExclusiveAllocation", "CustomSlurmSettings", "Tags", "HealthChecks", "Networking",
          "ComputeSettings", "CustomActions", "Iam", "Image", "ComputeResources"}},
        {"Scheduling.SlurmQueues.Networking",
         {"SubnetIds", "AssignPublicIp", "SecurityGroups", "AdditionalSecurityGroups",
          "PlacementGroup", "Proxy"}},
        {"Scheduling.SlurmQueues.Networking.PlacementGroup", {"Enabled", "Id", "Name"}},
        {"Scheduling.SlurmQueues.ComputeSettings", {"LocalStorage"}},
        {"Scheduling.SlurmQueues.ComputeResources",
         {"Name", "InstanceType", "Instances", "MinCount", "MaxCount", "DynamicNodePriority",
          "StaticNodePriority", "SpotPrice", "DisableSimultaneousMultithreading",
          "SchedulableMemory", "HealthChecks", "Efa", "CapacityReservationTarget", "Networking",
          "CustomSlurmSettings", "Tags", "LaunchTemplateOverrides"}},
        {"Scheduling.SlurmQueues.ComputeResources.Efa", {"Enabled", "GdrSupport"}},
        {"Scheduling.SlurmQueues.ComputeResources.Networking", {"PlacementGroup"}},
        {"SharedStorage",
         {"Name", "StorageType", "MountDir", "EbsSettings", "EfsSettings", "FsxLustreSettings",
          "FsxOntapSettings", "FsxOpenZfsSettings", "FileCacheSettings"}}};
    return kSections;
}

const Section* section(std::string_view path) {
    for (const Section& s : sections()) {
        if (s.path == path) return &s;
    }
    return nullptr;
}

/// Sections that know the key: where it belongs.
std::string homes(std::string_view key) {
    std::string all;
    for (const Section& s : sections()) {
        if (std::find(s.keys.begin(), s.keys.end(), key) == s.keys.end() || s.path.empty())
            continue;
        all += (all.empty() ? "" : " or ") + std::string(s.path) + "." + std::string(key);
    }
    return all;
}

void walk(const doc::Node& node, const std::string& path, Found& found) {
    const Section* s = section(path);
    if (s == nullptr) return;
    for (const auto& [key, value] : node.members()) {
        if (std::find(s->keys.begin(), s->keys.end(), key) == s->keys.end()) {
            const std::string where = path.empty() ? "the top level" : path;
            Finding& f = found.at(key_said(value, key),
                                  fmt::format("{} is not a key of {}", printable(key, 60), where));
            const auto near = nearest(key, s->keys);
            const std::string home = homes(key);
            if (!home.empty()) {
                f.fix = "move it to " + home;
            } else if (near) {
                f.fix = "did you mean " + *near + "?";
                f.edits.push_back({key_of(value), key, *near});
            }
            continue;
        }
        std::string inner = path;
        if (!inner.empty()) inner += '.';
        inner += key;
        for (const doc::Node* item : each(&value)) walk(*item, inner, found);
    }
}

void find(const Case& c, Found& found) {
    for (const Document* d : c.of_kind(Kind::parallelcluster)) walk(d->root, "", found);
}

}  // namespace

Rule rule() {
    return {.id = "PC-UNKNOWN-KEY",
            .severity = Severity::error,
            .title = "A key that ParallelCluster does not know there",
            .applies = "ParallelCluster",
            .why = "the configuration is refused as a whole",
            .fix = "move or rename the key",
            .source = "aws/aws-parallelcluster cli/src/pcluster/schemas/cluster_schema.py",
            .holds_for = "ParallelCluster 3",
            .find = find};
}

}  // namespace trainyard::lint::pc_unknown_key
