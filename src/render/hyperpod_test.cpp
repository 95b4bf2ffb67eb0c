#include <gtest/gtest.h>

#include "test_recipe.hpp"
#include "trainyard/doc/node.hpp"
#include "trainyard/render/target.hpp"

namespace trainyard::render {
namespace {

using doc::Node;

Node request(const Recipe& r) {
    const auto d = render(Target::hyperpod, r, {});
    EXPECT_TRUE(d.has_value());
    if (!d) return {};
    const File* f = d->find("sagemaker.create-cluster.json");
    EXPECT_NE(f, nullptr);
    return f == nullptr ? Node() : *doc::parse_json(f->content, "request");
}
std::string refusal(const Recipe& r, const Options& o = {}) {
    const auto d = render(Target::hyperpod, r, o);
    return d ? "" : format(d.error().diagnostics);
}

TEST(HyperPod, AGroupHasThePlansNodesAndPurchase) {
    const Node spot = request(test_recipe("p5.48xlarge", 4, Purchase::spot));
    const auto& groups = spot.find("InstanceGroups")->items();
    ASSERT_EQ(groups.size(), 1U);
    EXPECT_EQ(groups[0].find("InstanceType")->text(), "ml.p5.48xlarge");
    EXPECT_EQ(groups[0].find("InstanceCount")->as_integer(), 4);
    EXPECT_NE(groups[0].find("CapacityRequirements")->find("Spot"), nullptr);
    Recipe r = test_recipe("p4d.24xlarge", 5, Purchase::mixed);
    r.base_nodes = 3;
    const Node mixed = request(r);
    const auto& two = mixed.find("InstanceGroups")->items();
    ASSERT_EQ(two.size(), 2U);
    EXPECT_EQ(two[0].find("InstanceCount")->as_integer(), 3);
    EXPECT_NE(two[0].find("CapacityRequirements")->find("OnDemand"), nullptr);
    EXPECT_EQ(two[1].find("InstanceCount")->as_integer(), 2);
}

TEST(HyperPod, OneNodeHasAMasterAlone) {
    const auto one = render(Target::hyperpod, test_recipe("p5.48xlarge", 1, Purchase::spot), {});
    ASSERT_TRUE(one.has_value());
    EXPECT_EQ(one->find("job.yaml")->content.find("Worker:"), std::string::npos);
    const auto four = render(Target::hyperpod, test_recipe("p5.48xlarge", 4, Purchase::spot), {});
    ASSERT_TRUE(four.has_value());
    EXPECT_NE(four->find("job.yaml")->content.find("replicas: 3"), std::string::npos);
}

TEST(HyperPod, WhatItCannotBuyIsRefusedWithTheNearest) {
    Recipe block = test_recipe("p5.48xlarge", 4, Purchase::capacity_block);
    EXPECT_NE(refusal(block).find("--target eks"), std::string::npos);
    EXPECT_NE(refusal(test_recipe("p5.48xlarge", 4, Purchase::commitment)).find("--target eks"),
              std::string::npos);
    // trn1.2xlarge is on EC2, not among HyperPod's types.
    EXPECT_NE(refusal(test_recipe("trn1.2xlarge", 1, Purchase::spot)).find("HyperPod has no"),
              std::string::npos);
    EXPECT_NE(refusal(test_recipe("p5.48xlarge", 1, Purchase::spot), {.openzfs = true}), "");
}

}  // namespace
}  // namespace trainyard::render
