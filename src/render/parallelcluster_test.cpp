// Rules that ParallelCluster checks, in the files that are written.

#include <gtest/gtest.h>

#include "render_target.hpp"
#include "test_recipe.hpp"

namespace trainyard::render {
namespace {

Directory rendered(const Recipe& r, Target t = Target::parallelcluster) {
    Options options;
    options.framework = r.is_trainium() ? Framework::nxd : Framework::fsdp;
    auto d = render(t, r, options);
    EXPECT_TRUE(d.has_value()) << (d ? "" : format(d.error().diagnostics));
    return d ? *std::move(d) : Directory{};
}

doc::Node first_queue(const Directory& d) {
    const auto root = doc::parse_yaml(d.find("cluster.yaml")->content, "cluster.yaml");
    EXPECT_TRUE(root.has_value());
    return root->find("Scheduling")->find("SlurmQueues")->items().front();
}
const doc::Node& resource(const doc::Node& queue) {
    return queue.find("ComputeResources")->items().front();
}

TEST(ParallelCluster, ABlockIsStaticAndPlacesItself) {
    Recipe r = test_recipe("p5.48xlarge", 4, Purchase::capacity_block);
    r.block_days = 7;
    const doc::Node q = first_queue(rendered(r));
    EXPECT_EQ(q.find("CapacityType")->text(), "CAPACITY_BLOCK");
    EXPECT_FALSE(q.find("Networking")->find("PlacementGroup")->find("Enabled")->as_bool());
    EXPECT_EQ(resource(q).find("MinCount")->as_integer(), 4);
    EXPECT_EQ(resource(q).find("MaxCount")->as_integer(), 4);
    EXPECT_NE(resource(q).find("CapacityReservationTarget"), nullptr);
}

TEST(ParallelCluster, OtherwiseNothingRunsIdle) {
    const doc::Node q = first_queue(rendered(test_recipe("p5.48xlarge", 4, Purchase::spot)));
    EXPECT_EQ(q.find("CapacityType")->text(), "SPOT");
    EXPECT_TRUE(q.find("Networking")->find("PlacementGroup")->find("Enabled")->as_bool());
    EXPECT_TRUE(resource(q).find("Efa")->find("Enabled")->as_bool());
    EXPECT_EQ(resource(q).find("MinCount")->as_integer(), 0);
    const doc::Node one = first_queue(rendered(test_recipe("p4d.24xlarge", 1, Purchase::spot)));
    EXPECT_FALSE(one.find("Networking")->find("PlacementGroup")->find("Enabled")->as_bool());
    EXPECT_FALSE(resource(one).find("Efa")->find("Enabled")->as_bool());
}

TEST(ParallelCluster, LustreOnlyWhereThePlanHasIt) {
    Recipe r = test_recipe("p5.48xlarge", 4, Purchase::on_demand);
    EXPECT_EQ(rendered(r).find("cluster.yaml")->content.find("FsxLustre"), std::string::npos);
    r.lustre = 5 * kTB;
    r.data_place = DataPlace::lustre;
    const Directory d = rendered(r);
    // 5 TB are 4657 GiB; sold are multiples of 2400.
    EXPECT_NE(d.find("cluster.yaml")->content.find("StorageCapacity: 4800"), std::string::npos);
    EXPECT_EQ(d.find("checkpoints.sh"), nullptr);  // the file system is shared
}

TEST(ParallelCluster, RefusesWhatItCannot) {
    for (const auto& [type, purchase] :
         {std::pair{"p3.16xlarge", Purchase::on_demand}, {"p5.48xlarge", Purchase::mixed}}) {
        const auto d = render(Target::parallelcluster, test_recipe(type, 2, purchase), {});
        ASSERT_FALSE(d.has_value());
        EXPECT_NE(d.error().diagnostics.front().fix.find("--target ec2-fleet"), std::string::npos);
    }
}

TEST(SlurmJob, TheWarningComesBeforeTheBlockEnds) {
    Recipe r = test_recipe("p5.48xlarge", 4, Purchase::capacity_block);
    r.block_days = 1;
    r.wall.high = 3 * kDay;
    // 24 h less 30 min, when EC2 takes the nodes, less the two minutes of the warning.
    EXPECT_NE(rendered(r).find("job.sbatch")->content.find("--time=0-23:28:00\n"),
              std::string::npos);
}

TEST(SlurmJob, CodeThatCannotResumeIsNotQueuedAgain) {
    Recipe r = test_recipe("p5.48xlarge", 2, Purchase::on_demand);
    EXPECT_NE(rendered(r).find("job.sbatch")->content.find("--requeue\n"), std::string::npos);
    r.resume = workload::Resume::none;
    const std::string text = rendered(r).find("job.sbatch")->content;
    EXPECT_NE(text.find("--no-requeue\n"), std::string::npos);
    EXPECT_EQ(text.find("scontrol requeue"), std::string::npos);
}

TEST(SlurmJob, CopiesAreAnArray) {
    Recipe r = test_recipe("p4d.24xlarge", 5, Purchase::on_demand);
    r.copies = 200;
    r.jobs_per_node = 8;
    r.training.parallel.data = 1;
    const std::string text = rendered(r).find("job.sbatch")->content;
    EXPECT_NE(text.find("--array=1-200%40\n"), std::string::npos);
    EXPECT_NE(text.find("--gpus-per-node=1\n"), std::string::npos);
    EXPECT_EQ(text.find("--exclusive"), std::string::npos);
}

TEST(Rendering, EveryFileCarriesThePlansHashOrTheReadmeNamesIt) {
    const Recipe r = test_recipe("p5.48xlarge", 4, Purchase::spot);
    for (Target t : {Target::parallelcluster, Target::pcs}) {
        const Directory d = rendered(r, t);
        std::string readme = d.find("README.md")->content;
        if (const File* storage = d.find("storage/README.md")) readme += storage->content;
        for (const File& f : d.files()) {
            const bool inside = f.content.find(r.plan_hash) != std::string::npos;
            EXPECT_TRUE(inside || readme.find(f.path) != std::string::npos) << f.path;
        }
    }
}

}  // namespace
}  // namespace trainyard::render
