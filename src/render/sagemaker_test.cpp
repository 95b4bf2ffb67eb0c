#include <gtest/gtest.h>

#include "test_recipe.hpp"
#include "trainyard/doc/node.hpp"
#include "trainyard/render/target.hpp"

namespace trainyard::render {
namespace {

using doc::Node;

Node request(const Directory& d, const std::string& label = "") {
    const std::string path = "sagemaker.create-training-job" + label + ".json";
    const File* f = d.find(path);
    EXPECT_NE(f, nullptr) << path;
    return f == nullptr ? Node() : *doc::parse_json(f->content, path);
}
std::int64_t seconds(const Node& job, const char* key) {
    return job.find("StoppingCondition")->find(key)->as_integer();
}
std::string refusal(const Recipe& r, const Options& o = {}) {
    const auto d = render(Target::sagemaker, r, o);
    return d ? "" : format(d.error().diagnostics);
}

TEST(SageMaker, SpotWaitsAtLeastAsLongAsItRuns) {
    Recipe r = test_recipe("p5.48xlarge", 4, Purchase::spot);
    for (const double days : {0.1, 3.0, 20.0, 60.0}) {
        r.wall.high = days * kDay;
        const auto d = render(Target::sagemaker, r, {});
        ASSERT_TRUE(d.has_value());
        const Node job = request(*d, days > 22 ? ".part-1" : "");
        EXPECT_TRUE(job.find("EnableManagedSpotTraining")->as_bool());
        EXPECT_GE(seconds(job, "MaxWaitTimeInSeconds"), seconds(job, "MaxRuntimeInSeconds"));
        EXPECT_LE(seconds(job, "MaxWaitTimeInSeconds"), 28 * 86400);
        EXPECT_EQ(job.find("ResourceConfig")->find("KeepAlivePeriodInSeconds"), nullptr);
    }
}

TEST(SageMaker, OnDemandHasNoWait) {
    const auto d =
        render(Target::sagemaker, test_recipe("p5.48xlarge", 4, Purchase::on_demand), {});
    ASSERT_TRUE(d.has_value());
    const Node job = request(*d);
    EXPECT_FALSE(job.find("EnableManagedSpotTraining")->as_bool());
    EXPECT_EQ(job.find("StoppingCondition")->find("MaxWaitTimeInSeconds"), nullptr);
    EXPECT_EQ(seconds(job, "MaxRuntimeInSeconds"), 15 * 3600);  // 12 h and a quarter
    const std::string uri = job.find("CheckpointConfig")->find("S3Uri")->text();
    EXPECT_TRUE(uri.ends_with("/a-run/")) << uri;
}

TEST(SageMaker, ARunOverFourWeeksIsSplitAndKeepsItsNodes) {
    Recipe r = test_recipe("p5.48xlarge", 4, Purchase::on_demand);
    r.wall.high = 40 * kDay;  // 50 days with the margin
    const auto d = render(Target::sagemaker, r, {});
    ASSERT_TRUE(d.has_value());
    const Node first = request(*d, ".part-1");
    const Node second = request(*d, ".part-2");
    EXPECT_EQ(d->find("sagemaker.create-training-job.part-3.json"), nullptr);
    EXPECT_EQ(seconds(first, "MaxRuntimeInSeconds"), 28 * 86400);
    EXPECT_NE(first.find("ResourceConfig")->find("KeepAlivePeriodInSeconds"), nullptr);
    EXPECT_NE(first.find("TrainingJobName")->text(), second.find("TrainingJobName")->text());
    EXPECT_EQ(first.find("CheckpointConfig")->find("S3Uri")->text(),
              second.find("CheckpointConfig")->find("S3Uri")->text());
}

TEST(SageMaker, ALongRunThatCannotResumeIsRefused) {
    Recipe r = test_recipe("p5.48xlarge", 4, Purchase::on_demand);
    r.wall.high = 40 * kDay;
    r.resume = workload::Resume::none;
    EXPECT_NE(refusal(r).find("28 days"), std::string::npos);
    r.resume = workload::Resume::checkpoint;
    r.wall.high = 400 * kDay;
    EXPECT_NE(refusal(r).find("--target parallelcluster"), std::string::npos);
}

TEST(SageMaker, ACapacityBlockIsRefusedOrBecomesATrainingPlan) {
    Recipe r = test_recipe("p5.48xlarge", 4, Purchase::capacity_block);
    r.block_days = 7;
    EXPECT_NE(refusal(r).find("--target ec2-fleet"), std::string::npos);
    const auto d = render(Target::sagemaker, r, {.training_plan = true});
    ASSERT_TRUE(d.has_value());
    EXPECT_NE(request(*d).find("ResourceConfig")->find("TrainingPlanArn"), nullptr);
    const File* search = d->find("sagemaker.search-training-plan-offerings.json");
    ASSERT_NE(search, nullptr);
    EXPECT_NE(search->content.find("\"DurationHours\": 168"), std::string::npos);
    // trn1n runs training jobs but is not sold as a plan.
    Recipe other = test_recipe("trn1n.32xlarge", 2, Purchase::capacity_block);
    other.block_days = 7;
    EXPECT_NE(refusal(other, {.training_plan = true}).find("no training plan"), std::string::npos);
    EXPECT_NE(refusal(test_recipe("p5.48xlarge", 1, Purchase::spot), {.training_plan = true}), "");
}

TEST(SageMaker, WhatItCannotBuyIsRefusedWithTheNearest) {
    for (const Purchase p : {Purchase::mixed, Purchase::commitment}) {
        EXPECT_NE(refusal(test_recipe("p5.48xlarge", 4, p)).find("--target ec2-fleet"),
                  std::string::npos);
    }
    EXPECT_NE(refusal(test_recipe("g6f.large", 1, Purchase::on_demand)), "");
    Recipe many = test_recipe("p5.48xlarge", 1, Purchase::on_demand);
    many.copies = 20;
    EXPECT_NE(refusal(many).find("--target parallelcluster"), std::string::npos);
}

TEST(SageMaker, VpcOnlyForLustreAndVolumeOnlyWhereItCounts) {
    Recipe r = test_recipe("p5.48xlarge", 4, Purchase::on_demand);
    auto d = render(Target::sagemaker, r, {});
    ASSERT_TRUE(d.has_value());
    EXPECT_EQ(request(*d).find("VpcConfig"), nullptr);
    EXPECT_EQ(request(*d).find("ResourceConfig")->find("VolumeSizeInGB")->as_integer(), 30);
    r.data_place = DataPlace::lustre;
    r.lustre = 5 * kTiB;
    d = render(Target::sagemaker, r, {});
    ASSERT_TRUE(d.has_value());
    EXPECT_NE(request(*d).find("VpcConfig"), nullptr);
    r.instance.local_nvme.reset();
    d = render(Target::sagemaker, r, {});
    ASSERT_TRUE(d.has_value());
    // 200 GB for image and packages, room for two checkpoints of 100 GB.
    EXPECT_EQ(request(*d).find("ResourceConfig")->find("VolumeSizeInGB")->as_integer(), 400);
}

}  // namespace
}  // namespace trainyard::render
