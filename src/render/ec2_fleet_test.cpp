#include <gtest/gtest.h>

#include "ec2_requests.hpp"
#include "test_recipe.hpp"
#include "trainyard/doc/node.hpp"
#include "trainyard/render/target.hpp"

namespace trainyard::render {
namespace {

using doc::Node;

Node body(const Directory& d, const std::string& name) {
    const File* f = d.find(name + ".json");
    EXPECT_NE(f, nullptr) << name;
    return f == nullptr ? Node() : *doc::parse_json(f->content, name);
}
std::int64_t target(const Node& fleet, const char* key) {
    const Node* n = fleet.find("TargetCapacitySpecification")->find(key);
    return n == nullptr ? -1 : n->as_integer();
}
const Node& launch_data(const Node& t) { return *t.find("LaunchTemplateData"); }

TEST(Ec2Fleet, AGangStartsWholeOrNotAtAll) {
    const auto d = render(Target::ec2_fleet, test_recipe("p5.48xlarge", 4, Purchase::spot), {});
    ASSERT_TRUE(d.has_value());
    const Node fleet = body(*d, "ec2.create-fleet");
    EXPECT_EQ(fleet.find("Type")->text(), "instant");
    EXPECT_EQ(target(fleet, "SpotTargetCapacity"), 4);
    EXPECT_EQ(target(fleet, "OnDemandTargetCapacity"), -1);
    const Node* spot = fleet.find("SpotOptions");
    ASSERT_NE(spot, nullptr);
    EXPECT_EQ(spot->find("MinTargetCapacity")->as_integer(), 4);
    EXPECT_TRUE(spot->find("SingleAvailabilityZone")->as_bool());
    EXPECT_EQ(spot->find("AllocationStrategy")->text(), "capacity-optimized");
    const Node t = body(*d, "ec2.create-launch-template");
    EXPECT_EQ(launch_data(t).find("NetworkInterfaces")->items().size(), 33U);
    EXPECT_NE(launch_data(t).find("Placement"), nullptr);
    EXPECT_EQ(launch_data(t).find("InstanceMarketOptions"), nullptr);
}

TEST(Ec2Fleet, ACapacityBlockIsBoughtAndHasNoPlacementGroup) {
    Recipe r = test_recipe("p5.48xlarge", 4, Purchase::capacity_block);
    r.block_days = 7;
    const auto d = render(Target::ec2_fleet, r, {});
    ASSERT_TRUE(d.has_value());
    EXPECT_EQ(d->find("ec2.create-placement-group.json"), nullptr);
    EXPECT_EQ(body(*d, "ec2.describe-capacity-block-offerings")
                  .find("CapacityDurationHours")
                  ->as_integer(),
              168);
    EXPECT_NE(d->find("ec2.purchase-capacity-block.json"), nullptr);
    const Node t = body(*d, "ec2.create-launch-template");
    EXPECT_EQ(launch_data(t).find("InstanceMarketOptions")->find("MarketType")->text(),
              "capacity-block");
    EXPECT_EQ(launch_data(t).find("Placement"), nullptr);
    EXPECT_EQ(body(*d, "ec2.create-fleet")
                  .find("TargetCapacitySpecification")
                  ->find("DefaultTargetCapacityType")
                  ->text(),
              "capacity-block");
}

TEST(Ec2Fleet, AMixIsOneFleetAndWithABlockTwo) {
    Recipe r = test_recipe("p5.48xlarge", 5, Purchase::mixed);
    r.base_nodes = 3;
    auto d = render(Target::ec2_fleet, r, {});
    ASSERT_TRUE(d.has_value());
    const Node fleet = body(*d, "ec2.create-fleet");
    EXPECT_EQ(target(fleet, "OnDemandTargetCapacity"), 3);
    EXPECT_EQ(target(fleet, "SpotTargetCapacity"), 2);
    EXPECT_EQ(target(fleet, "TotalTargetCapacity"), 5);
    r.block_days = 14;
    d = render(Target::ec2_fleet, r, {});
    ASSERT_TRUE(d.has_value());
    EXPECT_EQ(target(body(*d, "ec2.create-fleet.block"), "TotalTargetCapacity"), 3);
    EXPECT_EQ(target(body(*d, "ec2.create-fleet.spot"), "TotalTargetCapacity"), 2);
}

TEST(Ec2Fleet, TheGroupIsOpenToItselfBothWays) {
    const auto d =
        render(Target::ec2_fleet, test_recipe("p4d.24xlarge", 2, Purchase::on_demand), {});
    ASSERT_TRUE(d.has_value());
    for (const char* way :
         {"ec2.authorize-security-group-ingress", "ec2.authorize-security-group-egress"}) {
        const Node b = body(*d, way);
        const Node& rule = b.find("IpPermissions")->items().at(0);
        EXPECT_EQ(rule.find("IpProtocol")->text(), "-1");
        EXPECT_EQ(rule.find("UserIdGroupPairs")->items().at(0).find("GroupId")->text(),
                  b.find("GroupId")->text());
    }
}

TEST(Ec2Fleet, OneNodeNeedsNoFabric) {
    const auto d =
        render(Target::ec2_fleet, test_recipe("p5.48xlarge", 1, Purchase::on_demand), {});
    ASSERT_TRUE(d.has_value());
    EXPECT_EQ(d->find("ec2.create-placement-group.json"), nullptr);
    EXPECT_EQ(d->find("ec2.authorize-security-group-ingress.json"), nullptr);
    const Node t = body(*d, "ec2.create-launch-template");
    EXPECT_EQ(launch_data(t).find("NetworkInterfaces")->items().size(), 1U);
}

TEST(Ec2Fleet, WhatItCannotDoIsRefused) {
    const auto said = [](const Recipe& r, const Options& o = {}) {
        const auto d = render(Target::ec2_fleet, r, o);
        return d ? std::string() : format(d.error().diagnostics);
    };
    Recipe r = test_recipe("p5.48xlarge", 4, Purchase::capacity_block);
    for (const int days : {0, 15, 183, 189}) {
        r.block_days = days;
        EXPECT_NE(said(r).find("no Capacity Block has"), std::string::npos) << days;
    }
    for (const int days : {1, 14, 21, 182}) {
        r.block_days = days;
        EXPECT_EQ(said(r), "") << days;
    }
    Recipe many = test_recipe("p5.48xlarge", 1, Purchase::on_demand);
    many.copies = 9;
    EXPECT_NE(said(many).find("--target parallelcluster"), std::string::npos);
    EXPECT_NE(said(test_recipe("p6e-gb200.36xlarge", 2, Purchase::on_demand)), "");
    EXPECT_NE(said(test_recipe("p5.48xlarge", 1001, Purchase::on_demand)), "");
    EXPECT_NE(said(test_recipe("p5.48xlarge", 2, Purchase::on_demand), {.training_plan = true}),
              "");
}

TEST(Ec2Fleet, VoltaGetsNoImageThatCannotDriveIt) {
    const auto d =
        render(Target::ec2_fleet, test_recipe("p3.16xlarge", 1, Purchase::on_demand), {});
    ASSERT_TRUE(d.has_value());
    const Node t = body(*d, "ec2.create-launch-template");
    EXPECT_TRUE(launch_data(t).find("ImageId")->text().starts_with("ami-"));
    EXPECT_NE(d->find("README.md")->content.find("Turing"), std::string::npos);
}

}  // namespace
}  // namespace trainyard::render
