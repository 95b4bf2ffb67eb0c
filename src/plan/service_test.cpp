#include "trainyard/plan/service.hpp"

#include <gtest/gtest.h>

namespace trainyard::plan {
namespace {

// The same job, three teams, three services, each with the deciding fact.
TEST(Service, ThreePersonas) {
    const Assumptions& a = Assumptions::embedded();
    ServiceFacts f;
    f.nodes = 40;
    f.devices = 320;
    f.uplift = 0.15;
    f.team = {.people = 1};
    EXPECT_EQ(choose_service(f, a).service, "SageMaker");
    EXPECT_NE(choose_service(f, a).because.find("15 %"), std::string::npos);
    f.team = {.people = 12, .kubernetes = true};
    EXPECT_EQ(choose_service(f, a).service, "EKS + Karpenter");
    f.team = {.people = 12, .slurm = true};
    EXPECT_EQ(choose_service(f, a).service, "ParallelCluster + Slurm");
    EXPECT_NE(choose_service(f, a).because.find("40 nodes"), std::string::npos);
}

TEST(Service, OneNodeNeedsNoScheduler) {
    const Assumptions& a = Assumptions::embedded();
    EXPECT_EQ(choose_service({}, a).service, "EC2");
    ServiceFacts f;
    f.outside_cheaper = true;
    f.outside_saving = 0.6;
    EXPECT_EQ(choose_service(f, a).service, "not AWS");
    f.nodes = 4;
    f.devices = 32;
    EXPECT_EQ(choose_service(f, a).service, "ParallelCluster + Slurm");
    f.copies = 200;
    EXPECT_EQ(choose_service(f, a).service, "not AWS");
}

}  // namespace
}  // namespace trainyard::plan
