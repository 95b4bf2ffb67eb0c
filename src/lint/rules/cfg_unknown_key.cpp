// A key of eksctl that is misspelt.

#include <fmt/format.h>

#include <algorithm>

#include "found.hpp"
#include "trainyard/base/text.hpp"

namespace trainyard::lint::cfg_unknown_key {

namespace {

const std::vector<std::string> kKeys = {"name",
                                        "instanceType",
                                        "instanceTypes",
                                        "instanceSelector",
                                        "instancesDistribution",
                                        "availabilityZones",
                                        "subnets",
                                        "minSize",
                                        "maxSize",
                                        "desiredCapacity",
                                        "volumeSize",
                                        "volumeType",
                                        "volumeIOPS",
                                        "volumeThroughput",
                                        "volumeEncrypted",
                                        "volumeName",
                                        "ami",
                                        "amiFamily",
                                        "labels",
                                        "taints",
                                        "tags",
                                        "iam",
                                        "ssh",
                                        "privateNetworking",
                                        "efaEnabled",
                                        "placement",
                                        "capacityReservation",
                                        "capacityReservationTarget",
                                        "capacityReservationID",
                                        "capacityReservationPreference",
                                        "capacityReservationResourceGroupARN",
                                        "instanceMarketOptions",
                                        "marketType",
                                        "spot",
                                        "launchTemplate",
                                        "updateConfig",
                                        "overrideBootstrapCommand",
                                        "preBootstrapCommands",
                                        "kubeletExtraConfig",
                                        "maxPodsPerNode",
                                        "securityGroups",
                                        "attachIDs",
                                        "withShared",
                                        "withLocal",
                                        "instancePrefix",
                                        "instanceName",
                                        "disableIMDSv1",
                                        "disablePodIMDS",
                                        "enableDetailedMonitoring",
                                        "asgMetricsCollection",
                                        "asgSuspendProcesses",
                                        "containerRuntime",
                                        "clusterDNS",
                                        "additionalVolumes",
                                        "localZones",
                                        "releaseVersion",
                                        "propagateASGTags",
                                        "additionalEncryptedVolume",
                                        "bottlerocket",
                                        "cpuCredits",
                                        "maxInstanceLifetime",
                                        "classicLoadBalancerNames",
                                        "targetGroupARNs",
                                        "outpostARN",
                                        "groupName",
                                        "nodeRepairConfig",
                                        "ebsOptimized",
                                        "snapshotID"};

/// Below these the keys are the user's.
bool is_free(std::string_view key) {
    return is_one_of(key, {"labels", "tags", "kubeletExtraConfig", "bottlerocket", "iam", "ssh"});
}

void walk(const doc::Node& node, Found& found) {
    for (const auto& [key, value] : node.members()) {
        if (std::find(kKeys.begin(), kKeys.end(), key) == kKeys.end()) {
            const auto near = nearest(key, kKeys);
            if (near) {
                Finding& f =
                    found.at(key_said(value, key), fmt::format("eksctl knows no key \"{}\"", key));
                f.fix = "write " + *near;
                f.edits.push_back({key_of(value), key, *near});
            }
        }
        if (is_free(key)) continue;
        for (const doc::Node* inner : each(&value)) walk(*inner, found);
    }
}

void find(const Case& c, Found& found) {
    for (const Pool& p : c.pools) {
        if (p.form == Pool::Form::eksctl) walk(*p.node, found);
    }
}

}  // namespace

Rule rule() {
    return {.id = "CFG-UNKNOWN-KEY",
            .severity = Severity::error,
            .title = "A key that eksctl does not know",
            .applies = "eksctl ClusterConfig",
            .why =
                "eksctl refuses the file, or the setting is ignored and nodes start "
                "outside the reservation that is paid for",
            .fix = "spell it as eksctl's schema does",
            .source = "eksctl schema (pkg/apis/eksctl.io/v1alpha5); eksctl-io/eksctl#8542",
            .find = find};
}

}  // namespace trainyard::lint::cfg_unknown_key
