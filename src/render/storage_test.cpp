#include "storage.hpp"

#include <gtest/gtest.h>

#include "test_recipe.hpp"
#include "trainyard/base/text.hpp"

namespace trainyard::render {
namespace {

using doc::Node;

Node body(const Directory& d, const std::string& path) {
    const File* f = d.find(path);
    EXPECT_NE(f, nullptr) << path;
    return f == nullptr ? Node() : *doc::parse_json(f->content, path);
}

Recipe with_lustre(std::string_view type, double gib) {
    Recipe r = test_recipe(type, 4, Purchase::on_demand);
    r.data_place = DataPlace::lustre;
    r.lustre = gib * kGiB;
    return r;
}

// FSx sells 1200, 2400 and further multiples of 2400 GiB (CreateFileSystem, StorageCapacity).
TEST(LustreSize, IsSoldInSteps) {
    EXPECT_EQ(lustre_size(with_lustre("g6e.48xlarge", 100)).gib, 1200);
    EXPECT_EQ(lustre_size(with_lustre("g6e.48xlarge", 1200)).gib, 1200);
    EXPECT_EQ(lustre_size(with_lustre("g6e.48xlarge", 1201)).gib, 2400);
    EXPECT_EQ(lustre_size(with_lustre("g6e.48xlarge", 5000)).gib, 7200);
}

// With EFA at 125 MB/s/TiB only multiples of 38400 GiB exist.
TEST(LustreSize, EfaOnlyWhereItsStepIsNear) {
    EXPECT_FALSE(lustre_size(with_lustre("p5.48xlarge", 5000)).efa);
    const LustreSize near = lustre_size(with_lustre("p5.48xlarge", 36000));
    EXPECT_TRUE(near.efa);
    EXPECT_EQ(near.gib, 38400);
    EXPECT_FALSE(lustre_size(with_lustre("p5.48xlarge", 40000)).efa);   // 76800 would be twice
    EXPECT_FALSE(lustre_size(with_lustre("g6e.48xlarge", 36000)).efa);  // no GPUDirect
}

TEST(Storage, LustreIsLinkedToTheDataAndTheCheckpoints) {
    const Recipe r = with_lustre("p5.48xlarge", 36000);
    const auto at = run_addresses({.checkpoint = "s3://bucket/run"}, "run");
    ASSERT_TRUE(at.has_value());
    Directory d;
    add_storage(d, r, *at, "run", {});
    const Node fs = body(d, "storage/fsx.create-file-system.lustre.json");
    EXPECT_EQ(fs.find("StorageCapacity")->as_integer(), 38400);
    EXPECT_TRUE(fs.find("LustreConfiguration")->find("EfaEnabled")->as_bool());
    const Node data = body(d, "storage/fsx.create-data-repository-association.data.json");
    EXPECT_NE(data.find("S3")->find("AutoImportPolicy"), nullptr);
    const Node out = body(d, "storage/fsx.create-data-repository-association.checkpoints.json");
    EXPECT_EQ(out.find("DataRepositoryPath")->text(), "s3://bucket/run");
    // DELETED would let a pruned local checkpoint delete its copy in S3.
    for (const Node& e : out.find("S3")->find("AutoExportPolicy")->find("Events")->items())
        EXPECT_NE(e.text(), "DELETED");
}

TEST(Storage, NoFileSystemThatThePlanDoesNotNeed) {
    const Recipe r = test_recipe("p5.48xlarge", 4, Purchase::on_demand);
    Directory d;
    add_storage(d, r, *run_addresses({}, "run"), "run", {});
    for (const File& f : d.files()) EXPECT_EQ(f.path.find("fsx"), std::string::npos) << f.path;
}

TEST(Storage, CheckpointsOutliveTheSlowEndOfTheRun) {
    Recipe r = test_recipe("p5.48xlarge", 4, Purchase::on_demand);
    r.wall.high = 10.5 * kDay;
    Directory d;
    add_storage(d, r, *run_addresses({.checkpoint = "s3://bucket/ck"}, "run"), "run", {});
    const Node b = body(d, "storage/s3.put-bucket-lifecycle-configuration.json");
    const auto& rules = b.find("LifecycleConfiguration")->find("Rules")->items();
    ASSERT_EQ(rules.size(), 2U);
    EXPECT_EQ(
        rules[0].find("AbortIncompleteMultipartUpload")->find("DaysAfterInitiation")->as_integer(),
        3);
    EXPECT_EQ(rules[1].find("Filter")->find("Prefix")->text(), "ck/run/");
    EXPECT_EQ(rules[1].find("Expiration")->find("Days")->as_integer(), 41);  // 11 and 30
}

TEST(Storage, OnlyUsEast1HasNoLocation) {
    Recipe r = test_recipe("p5.48xlarge", 4, Purchase::on_demand);
    Directory east;
    add_storage(east, r, *run_addresses({}, "run"), "run", {});
    EXPECT_EQ(body(east, "storage/s3.create-bucket.json").find("CreateBucketConfiguration"),
              nullptr);
    r.region = "eu-west-1";
    Directory west;
    add_storage(west, r, *run_addresses({}, "run"), "run", {});
    EXPECT_NE(body(west, "storage/s3.create-bucket.json").find("CreateBucketConfiguration"),
              nullptr);
}

TEST(Storage, EveryTargetHasItsRequests) {
    Recipe r = with_lustre("p5.48xlarge", 5000);
    r.steps = 1000;
    r.step_time = 30 * kSecond;
    for (const TargetInfo& t : targets()) {
        const auto d = render(t.target, r, {});
        if (!d) continue;  // a target may refuse what this recipe asks
        EXPECT_NE(d->find("storage/s3.put-bucket-lifecycle-configuration.json"), nullptr) << t.name;
        // ParallelCluster makes the file system of its own cluster.yaml.
        const bool own = t.target == Target::parallelcluster;
        EXPECT_EQ(d->find("storage/fsx.create-file-system.lustre.json") == nullptr, own) << t.name;
    }
}

TEST(Storage, WhatARunMadeIsTakenAway) {
    Recipe r = test_recipe("p5.48xlarge", 4, Purchase::capacity_block);
    r.block_days = 7;
    r.head_node = "c7i.2xlarge";
    const std::string fee = "is due when the block is bought";
    for (const TargetInfo& t : targets()) {
        const auto d = render(t.target, r, {});
        if (!d) continue;
        const std::string& readme = d->find("README.md")->content;
        const std::string down = readme.substr(readme.find("## Tear down"));
        // Each request that makes something has its deletion, and the bucket's rule is announced.
        for (const auto& [made, deleted] :
             {std::pair{"iam/iam.create-role.json", "delete-role "},
              {"iam/iam.create-instance-profile.json", "delete-instance-profile"},
              {"ec2.create-launch-template.json", "delete-launch-template"},
              {"ec2.create-security-group.json", "delete-security-group"},
              {"storage/ec2.create-vpc-endpoint.s3.json", "delete-vpc-endpoints"},
              {"storage/s3.create-bucket.json", "delete-bucket"},
              {"pcs.create-cluster.json", "pcs delete-cluster"}}) {
            if (d->find(made) == nullptr) continue;
            EXPECT_NE(down.find(deleted), std::string::npos) << t.name << " " << made;
        }
        EXPECT_NE(readme.find("deletes by itself"), std::string::npos) << t.name;
        // 4 nodes x $10/h x 7 days
        EXPECT_NE(readme.find("**$6,720.00** of it " + fee), std::string::npos) << t.name;
        EXPECT_NE(d->find("ec2.purchase-capacity-block.json"), nullptr) << t.name;
    }
}

TEST(Storage, AMixedPlansGuaranteedPartHasTheRate) {
    Recipe r = test_recipe("p4d.24xlarge", 5, Purchase::mixed);
    r.base_nodes = 3;
    const auto d = render(Target::eks, r, {});
    ASSERT_TRUE(d.has_value());
    const std::string& readme = d->find("README.md")->content;
    EXPECT_NE(readme.find("3 x p4d.24xlarge at $10.00/h = **$30.00/h** while it runs, on demand in "
                          "us-east-1, and 2 on spot"),
              std::string::npos);
}

TEST(Storage, WhereNothingPrunesTheReadmeSaysHowMuchComesTogether) {
    Recipe r = test_recipe("p5.48xlarge", 4, Purchase::on_demand);
    r.steps = 1000;
    r.step_time = 36 * kSecond;  // 10 h, saved each hour
    const auto said = [&r](Target t) {
        const auto d = render(t, r, {});
        return d ? d->find("README.md")->content.find("10 of 93.1 GiB each") != std::string::npos
                 : false;
    };
    EXPECT_TRUE(said(Target::sagemaker));
    EXPECT_FALSE(said(Target::eks));
}

TEST(Storage, OnlyMachinesInAVpcOfTheUsersNeedAnEndpoint) {
    const Recipe r = test_recipe("p5.48xlarge", 4, Purchase::on_demand);
    const auto sagemaker = render(Target::sagemaker, r, {});
    ASSERT_TRUE(sagemaker.has_value());
    EXPECT_EQ(sagemaker->find("storage/ec2.create-vpc-endpoint.s3.json"), nullptr);
    const auto eks = render(Target::eks, r, {});
    ASSERT_TRUE(eks.has_value());
    EXPECT_NE(eks->find("storage/ec2.create-vpc-endpoint.s3.json"), nullptr);
}

TEST(Storage, ATrainingPlanIsRefusedEverywhereElse) {
    const Recipe r = test_recipe("p5.48xlarge", 4, Purchase::on_demand);
    for (const TargetInfo& t : targets()) {
        const auto d = render(t.target, r, {.training_plan = true});
        EXPECT_FALSE(d.has_value()) << t.name;
    }
}

TEST(Storage, ARunHasAPrefixOfItsOwn) {
    EXPECT_EQ(run_addresses({.checkpoint = "s3://bucket"}, "run")->checkpoint.prefix, "run");
    EXPECT_EQ(run_addresses({.checkpoint = "s3://bucket/a"}, "run")->checkpoint.prefix, "a/run");
    EXPECT_EQ(run_addresses({.checkpoint = "s3://bucket/a/run/"}, "run")->checkpoint.prefix,
              "a/run");
}

}  // namespace
}  // namespace trainyard::render
