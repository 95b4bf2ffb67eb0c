#include <gtest/gtest.h>

#include "eks_nodes.hpp"
#include "test_recipe.hpp"

namespace trainyard::render {
namespace {

using doc::Node;

/// The documents of a file, each read by our own YAML parser.
std::vector<Node> documents(const Directory& d, const std::string& path) {
    const File* f = d.find(path);
    EXPECT_NE(f, nullptr) << path;
    std::vector<Node> all;
    if (f == nullptr) return all;
    std::size_t at = f->content.find("---\n");
    while (at != std::string::npos) {
        const std::size_t end = f->content.find("---\n", at + 4);
        auto read = doc::parse_yaml(f->content.substr(at + 4, end - at - 4), path);
        EXPECT_TRUE(read.has_value()) << path;
        if (read) all.push_back(*read);
        at = end;
    }
    return all;
}

/// "a/b/0/c" from a node; a null node where there is none.
Node at(const Node& root, std::string_view path) {
    const Node* n = &root;
    while (!path.empty() && n != nullptr) {
        const std::size_t slash = std::min(path.find('/'), path.size());
        const std::string key(path.substr(0, slash));
        path.remove_prefix(std::min(slash + 1, path.size()));
        if (n->is(Node::Kind::list)) {
            const auto i = static_cast<std::size_t>(std::stoi(key));
            n = i < n->items().size() ? &n->items()[i] : nullptr;
        } else {
            n = n->find(key);
        }
    }
    return n == nullptr ? Node() : *n;
}
std::string text(const Node& root, std::string_view path) { return at(root, path).text(); }

constexpr const char* kCapacity = "spec/template/spec/requirements/1/values/0";
constexpr const char* kPod = "spec/replicatedJobs/0/template/spec/template/spec";

Directory rendered(const Recipe& r, const Options& options = {}) {
    auto d = render(Target::eks, r, options);
    EXPECT_TRUE(d.has_value());
    return d ? *d : Directory();
}

TEST(Eks, LimitsAreThePlanAndNothingMovesARun) {
    const auto d = rendered(test_recipe("p5.48xlarge", 4, Purchase::on_demand));
    const auto nodes = documents(d, "nodes.yaml");
    ASSERT_EQ(nodes.size(), 2U);
    EXPECT_EQ(text(nodes[1], "spec/limits/cpu"), "768");  // 4 x 192
    EXPECT_EQ(at(nodes[1], "spec/limits").find("nvidia.com/gpu")->text(), "32");
    EXPECT_EQ(text(nodes[1], kCapacity), "on-demand");
    EXPECT_EQ(text(nodes[1], "spec/disruption/consolidationPolicy"), "WhenEmpty");
    EXPECT_EQ(text(nodes[1], "spec/template/spec/expireAfter"), "Never");
    EXPECT_EQ(text(nodes[1], "spec/template/spec/terminationGracePeriod"), "");
    EXPECT_EQ(text(nodes[0], "spec/placementGroupSelector/name"), "a-run");
    EXPECT_EQ(text(nodes[0], "spec/instanceStorePolicy"), "RAID0");
    EXPECT_EQ(at(nodes[0], "spec/subnetSelectorTerms").items().size(), 1U);
}

TEST(Eks, APodTakesTheWholeNodeAndAllOfItsEfa) {
    const auto d = rendered(test_recipe("p5.48xlarge", 4, Purchase::on_demand));
    const auto sets = documents(d, "jobset.yaml");
    ASSERT_EQ(sets.size(), 1U);
    const Node pod = at(sets[0], kPod);
    const Node limits = at(pod, "containers/0/resources/limits");
    EXPECT_EQ(limits.find("nvidia.com/gpu")->text(), "8");
    EXPECT_EQ(limits.find("vpc.amazonaws.com/efa")->text(), "32");
    // Karpenter's documentation gives p5.48xlarge 191.4 vCPU and 1893 GiB allocatable.
    EXPECT_LE(std::stoi(limits.find("cpu")->text()), 191);
    EXPECT_LE(std::stoi(limits.find("memory")->text()), 1893);
    EXPECT_GE(std::stoi(limits.find("memory")->text()), 1700);
    const Node jobs = documents(d, "trainjob.yaml")[1];
    EXPECT_EQ(text(jobs, "spec/trainer/numNodes"), "4");
    EXPECT_EQ(text(jobs, "spec/trainer/numProcPerNode"), "8");
}

TEST(Eks, OneNodeNeedsNoEfaAndNoPlacementGroup) {
    const auto d = rendered(test_recipe("p4d.24xlarge", 1, Purchase::spot));
    EXPECT_EQ(d.find("helm/efa-device-plugin-values.yaml"), nullptr);
    const auto nodes = documents(d, "nodes.yaml");
    EXPECT_EQ(text(nodes[0], "spec/placementGroupSelector/name"), "");
    EXPECT_EQ(text(nodes[1], kCapacity), "spot");
    EXPECT_EQ(text(nodes[1], "spec/template/spec/terminationGracePeriod"), "2m");
    const File* values = d.find("helm/karpenter-values.yaml");
    ASSERT_NE(values, nullptr);
    EXPECT_NE(values->content.find("interruptionQueue"), std::string::npos);
}

TEST(Eks, ACapacityBlockIsReservedCapacityWithoutAGroupOfItsOwn) {
    Recipe r = test_recipe("p5.48xlarge", 4, Purchase::capacity_block);
    r.block_days = 7;
    const auto d = rendered(r);
    const auto nodes = documents(d, "nodes.yaml");
    EXPECT_EQ(text(nodes[1], kCapacity), "reserved");
    EXPECT_EQ(text(nodes[0], "spec/capacityReservationSelectorTerms/0/id"), "cr-0000000000000000c");
    EXPECT_EQ(text(nodes[0], "spec/placementGroupSelector/name"), "");
    EXPECT_EQ(text(nodes[1], "spec/template/spec/terminationGracePeriod"), "10m");
}

TEST(Eks, MixedCapacityIsTwoPoolsThatAddUpToThePlan) {
    Recipe r = test_recipe("p4d.24xlarge", 5, Purchase::mixed);
    r.base_nodes = 3;
    const auto nodes = documents(rendered(r), "nodes.yaml");
    ASSERT_EQ(nodes.size(), 4U);
    EXPECT_EQ(text(nodes[1], kCapacity), "on-demand");
    EXPECT_EQ(text(nodes[3], kCapacity), "spot");
    EXPECT_EQ(text(nodes[1], "spec/limits/cpu"), "288");  // 3 x 96
    EXPECT_EQ(text(nodes[3], "spec/limits/cpu"), "192");  // 2 x 96
    EXPECT_GT(at(nodes[1], "spec/weight").as_integer(), at(nodes[3], "spec/weight").as_integer());
    r.block_days = 7;
    EXPECT_EQ(text(documents(rendered(r), "nodes.yaml")[1], kCapacity), "reserved");
}

TEST(Eks, TrainiumTakesNeuronChips) {
    Recipe r = test_recipe("trn1.32xlarge", 4, Purchase::on_demand);
    const auto d = rendered(r);
    const auto nodes = documents(d, "nodes.yaml");
    EXPECT_EQ(at(nodes[1], "spec/limits").find("aws.amazon.com/neuron")->text(), "64");
    EXPECT_EQ(text(nodes[1], "spec/template/spec/taints/0/key"), "aws.amazon.com/neuron");
    EXPECT_NE(d.find("helm/neuron-values.yaml"), nullptr);
    EXPECT_EQ(d.find("helm/gpu-operator-values.yaml"), nullptr);
}

TEST(Eks, CopiesAreIndexesOfOneJob) {
    Recipe r = test_recipe("p4d.24xlarge", 5, Purchase::spot);
    r.copies = 200;
    r.jobs_per_node = 8;
    r.training.parallel.data = 1;
    const auto d = rendered(r);
    EXPECT_EQ(d.find("jobset.yaml"), nullptr);
    const Node job = documents(d, "job.yaml")[0];
    EXPECT_EQ(at(job, "spec/completions").as_integer(), 200);
    EXPECT_EQ(at(job, "spec/parallelism").as_integer(), 40);
    const Node pod = at(job, "spec/template/spec/containers/0");
    EXPECT_EQ(at(pod, "resources/limits").find("nvidia.com/gpu")->text(), "1");
    const File* f = d.find("job.yaml");
    EXPECT_NE(f->content.find("/checkpoints/$(RUN_INDEX)"), std::string::npos);
    r.jobs_per_node = 9;
    const auto refused = render(Target::eks, r, {});
    ASSERT_FALSE(refused.has_value());
    EXPECT_NE(format(refused.error().diagnostics).find("--target"), std::string::npos);
}

TEST(Eks, KubernetesDoesNotExpandWhatTheUserWrote) {
    const auto d = rendered(test_recipe("p5.48xlarge", 4, Purchase::spot),
                            {.checkpoint = "s3://bucket/$(PATH)/$HOME"});
    const Node set = documents(d, "jobset.yaml")[0];
    const Node variables = at(set, std::string(kPod) + "/containers/0/env");
    bool found = false;
    for (const Node& v : variables.items()) {
        if (v.find("name")->text() != "CHECKPOINT_S3") continue;
        found = true;
        EXPECT_EQ(v.find("value")->text(), "s3://bucket/$$(PATH)/$$HOME/a-run");
    }
    EXPECT_TRUE(found);
}

TEST(Eks, StorageIsMountedWhereThePlanReadsFromIt) {
    Recipe r = test_recipe("p5.48xlarge", 4, Purchase::on_demand);
    EXPECT_EQ(rendered(r).find("storage.yaml"), nullptr);
    r.data_place = DataPlace::s3;
    EXPECT_EQ(text(documents(rendered(r), "storage.yaml")[0], "spec/csi/driver"), "s3.csi.aws.com");
    r.data_place = DataPlace::lustre;
    r.lustre = 5 * kTiB;
    EXPECT_EQ(text(documents(rendered(r), "storage.yaml")[0], "spec/csi/driver"),
              "fsx.csi.aws.com");
}

}  // namespace
}  // namespace trainyard::render
