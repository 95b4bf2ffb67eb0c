#include <gtest/gtest.h>

#include "iam.hpp"

#include "test_recipe.hpp"
#include "trainyard/doc/node.hpp"
#include "trainyard/render/target.hpp"

namespace trainyard::render {
namespace {

using doc::Node;

Node file(const Recipe& r, const std::string& path, const Options& o = {}) {
    const auto d = render(Target::skypilot, r, o);
    EXPECT_TRUE(d.has_value());
    const File* f = d ? d->find(path) : nullptr;
    EXPECT_NE(f, nullptr) << path;
    return f == nullptr ? Node() : *doc::parse_yaml(f->content, path);
}
std::string refusal(const Recipe& r) {
    const auto d = render(Target::skypilot, r, {});
    return d ? "" : format(d.error().diagnostics);
}

TEST(SkyPilot, TheTaskHasThePlansMachines) {
    const Node task = file(test_recipe("p5.48xlarge", 4, Purchase::spot), "task.yaml");
    const Node* resources = task.find("resources");
    EXPECT_EQ(resources->find("infra")->text(), "aws/us-east-1");
    EXPECT_EQ(resources->find("instance_type")->text(), "p5.48xlarge");
    EXPECT_TRUE(resources->find("use_spot")->as_bool());
    EXPECT_EQ(resources->find("network_tier")->text(), "best");
    EXPECT_EQ(task.find("num_nodes")->as_integer(), 4);
    const Node one = file(test_recipe("p5.48xlarge", 1, Purchase::on_demand), "task.yaml");
    EXPECT_FALSE(one.find("resources")->find("use_spot")->as_bool());
    EXPECT_EQ(one.find("resources")->find("network_tier"), nullptr);
}

TEST(SkyPilot, ACapacityBlockIsNamedInTheConfiguration) {
    const Node config =
        file(test_recipe("p5.48xlarge", 1, Purchase::capacity_block), "sky-config.yaml");
    const auto& ids = config.find("aws")->find("specific_reservations")->items();
    ASSERT_EQ(ids.size(), 1U);
    EXPECT_TRUE(ids[0].text().starts_with("cr-"));
    const Node plain = file(test_recipe("p5.48xlarge", 1, Purchase::spot), "sky-config.yaml");
    EXPECT_EQ(plain.find("aws")->find("specific_reservations"), nullptr);
}

// Without it the nodes get a copy of the user's own credentials.
TEST(SkyPilot, NodesHaveTheRunsRole) {
    const Node config = file(test_recipe("p5.48xlarge", 1, Purchase::spot), "sky-config.yaml");
    const auto& roles = config.find("aws")->find("remote_identity")->items();
    ASSERT_EQ(roles.size(), 2U);  // the first pattern that fits counts: the controller starts nodes
    ASSERT_NE(roles[1].find("*"), nullptr);
    EXPECT_EQ(roles[1].find("*")->text(), run_role_name("a-run"));
}

TEST(SkyPilot, AnAddressStaysOneString) {
    const std::string address = "s3://bucket/a'b\"c`d$(e)";
    const Node task =
        file(test_recipe("p5.48xlarge", 4, Purchase::spot), "task.yaml", {.checkpoint = address});
    EXPECT_EQ(task.find("envs")->find("CHECKPOINT_S3")->text(), address + "/a-run");
}

TEST(SkyPilot, WhatItCannotExpressIsRefusedWithTheNearest) {
    Recipe mixed = test_recipe("p4d.24xlarge", 5, Purchase::mixed);
    mixed.base_nodes = 3;
    EXPECT_NE(refusal(mixed).find("--target eks"), std::string::npos);
    Recipe many = test_recipe("p4d.24xlarge", 1, Purchase::spot);
    many.copies = 20;
    EXPECT_NE(refusal(many).find("--target eks"), std::string::npos);
    // Several Trainium nodes need EFA, which SkyPilot gives to GPU types only; one node needs none.
    EXPECT_NE(refusal(test_recipe("trn1.32xlarge", 4, Purchase::spot)).find("EFA"),
              std::string::npos);
    EXPECT_EQ(refusal(test_recipe("trn1.32xlarge", 1, Purchase::spot)), "");
    Recipe lustre = test_recipe("p5.48xlarge", 4, Purchase::spot);
    lustre.data_place = DataPlace::lustre;
    lustre.lustre = 5 * kTiB;
    EXPECT_NE(refusal(lustre).find("--target"), std::string::npos);
}

}  // namespace
}  // namespace trainyard::render
