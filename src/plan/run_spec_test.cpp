#include "trainyard/plan/run_spec.hpp"

#include "test_job.hpp"

namespace trainyard::plan {
namespace {

Plan planned(Request r) {
    r.detail = Detail::full;
    auto p = make_plan(r, test::catalog(), Assumptions::embedded());
    EXPECT_TRUE(p.has_value());
    return p ? std::move(*p) : Plan{};
}

TEST(RunSpec, CarriesThePlanIntoTheSimulation) {
    Request r = test::request(test::model("llama-3.1-8b"), 50e9);
    r.job.deadline = 20 * kDay;
    r.job.budget = 60000.0 * kUsd;
    const Plan p = planned(r);
    ASSERT_TRUE(p.chosen && p.run);
    const spot::RunSpec& s = p.run->spec;
    EXPECT_EQ(s.work, p.chosen->candidate.training_time());
    EXPECT_EQ(s.nodes, p.chosen->candidate.nodes);
    EXPECT_EQ(s.deadline, r.job.deadline);
    EXPECT_FALSE(s.pools.empty());
    EXPECT_GE(s.checkpoints.persist, s.checkpoints.blocking);
    // The two halves of the bill meet: what is played and what is added are the whole.
    const Bill& bill = p.chosen->offer.bill;
    const MicroUsd played = bill.of("compute") + bill.of("start-up") + bill.of("restarts");
    EXPECT_EQ(to_cents(s.other) + played, bill.total());
}

TEST(RunSpec, ElasticRunsHaveASpeedPerNodeCount) {
    Request r = test::request(test::model("llama-3.1-8b"), 300e9);
    r.job.instance = "p4d.24xlarge";
    r.job.nodes = 8;
    r.job.resume = workload::Resume::elastic;
    const Plan p = planned(r);
    ASSERT_TRUE(p.chosen && p.run);
    const spot::RunSpec& s = p.run->spec;
    ASSERT_GT(s.nodes, 1);
    ASSERT_EQ(s.speed.size(), static_cast<std::size_t>(s.nodes));
    EXPECT_LT(s.min_nodes, s.nodes);
    EXPECT_GT(s.speed[static_cast<std::size_t>(s.min_nodes - 1)], 0);
    for (std::size_t n = static_cast<std::size_t>(s.min_nodes); n < s.speed.size(); ++n)
        EXPECT_GE(s.speed[n], s.speed[n - 1]) << n + 1 << " nodes";
    EXPECT_DOUBLE_EQ(s.speed.back(), 1);
}

TEST(RunSpec, JsonReadsBackWhatWasWritten) {
    Request r = test::request(test::model("llama-3.1-8b"), 50e9);
    r.spot_preference = SpotPreference::always;
    const Plan p = planned(r);
    ASSERT_TRUE(p.run);
    const std::string text = doc::write_json(run_json(*p.run));
    auto node = doc::parse_json(text, "run.json");
    ASSERT_TRUE(node.has_value());
    auto again = read_run(*node);
    ASSERT_TRUE(again.has_value()) << again.error().diagnostics.front().what;
    EXPECT_EQ(doc::write_json(run_json(*again)), text);
}

std::vector<Diagnostic> mistakes(const std::string& json) {
    auto node = doc::parse_json(json, "run.json");
    EXPECT_TRUE(node.has_value());
    auto run = read_run(*node);
    EXPECT_FALSE(run.has_value());
    return run ? std::vector<Diagnostic>{} : run.error().diagnostics;
}

TEST(RunSpec, EveryMistakeHasItsPlace) {
    // min_nodes is judged by the nodes only where these are right.
    const auto all = mistakes(R"({"work_s": -1, "nodes": 0, "min_nodes": 4, "policy": "up",
  "checkpoint": {"blocking_s": 1, "persist_s": 2, "restore_s3_s": 3},
  "pools": [{"name": "a", "purchase": "sport", "usd_per_instance_hour": 1}]})");
    ASSERT_EQ(all.size(), 3u);
    EXPECT_EQ(all[0].where.line, 1);
    EXPECT_EQ(all[2].where.line, 3);
    EXPECT_NE(all[2].fix.find("spot"), std::string::npos) << all[2].fix;
}

std::string run_with(const std::string& keys) {
    return R"({"work_s": 3600, "nodes": 1, )" + keys + R"(,
  "pools": [{"name": "a", "purchase": "on_demand", "usd_per_instance_hour": 1}]})";
}

TEST(RunSpec, RequiredKeysAreNoDefaults) {
    const std::string saves =
        R"("checkpoint": {"blocking_s": 1, "persist_s": 2, "restore_s3_s": 3})";
    struct Bad {
        std::string keys;
        std::string_view says;
    };
    const Bad all[] = {
        {saves, "policy is missing"},
        {R"("policy": 1, )" + saves, "policy: \"1\" is not text"},
        {R"("policy": "spot_onyl", )" + saves, "policy: there is no policy \"spot_onyl\""},
        {R"("policy": "up")", "checkpoint is missing"},
        {R"("policy": "up", "checkpoint": [1])", "checkpoint is not a map"},
        {R"("policy": "up", "checkpoint": "daily")", "checkpoint is not a map"},
        {R"("policy": "up", "checkpoint": {"blocking_s": 1, "persist_s": 2})",
         "restore_s3_s is missing"},
        {R"("policy": "up", "speed": [1.5], )" + saves,
         "speed is no list of numbers above 0 and at most 1"},
        {R"("policy": "up", "speed": "fast", )" + saves,
         "speed is no list of numbers above 0 and at most 1"},
    };
    for (const Bad& bad : all) {
        const auto said = mistakes(run_with(bad.keys));
        ASSERT_EQ(said.size(), 1u) << bad.keys;
        EXPECT_EQ(said[0].what, bad.says);
        EXPECT_EQ(said[0].where.line, 1);
        EXPECT_GT(said[0].where.column, 0);
    }
}

TEST(RunSpec, LimitsAreThoseOfThePlayer) {
    std::string pools;
    for (int i = 0; i < 257; ++i) {
        pools += std::string(i > 0 ? "," : "") +
                 R"({"name": "a", "purchase": "on_demand", "usd_per_instance_hour": 1})";
    }
    const std::string head = R"({"work_s": 1, "policy": "up",
  "checkpoint": {"blocking_s": 1, "persist_s": 2, "restore_s3_s": 3}, )";
    auto said = mistakes(head + R"("nodes": 1, "pools": [)" + pools + "]}");
    ASSERT_EQ(said.size(), 1u);
    EXPECT_EQ(said[0].what, "257 pools are too many");
    EXPECT_EQ(said[0].where.line, 2);
    said = mistakes(head + R"("nodes": 1000001, "min_nodes": 5, "pools": [
  {"name": "a", "purchase": "spot", "usd_per_instance_hour": 1,
   "process": {"up_scale_s": 1, "up_shape": 0.01, "down_scale_s": 1}}]})");
    ASSERT_EQ(said.size(), 2u);
    EXPECT_EQ(said[0].where.line, 2);
    EXPECT_EQ(said[1].where.line, 4);
}

TEST(RunSpec, SpotNeedsAProcess) {
    const auto all = mistakes(R"({"work_s": 3600, "nodes": 1, "policy": "up",
  "checkpoint": {"blocking_s": 1, "persist_s": 2, "restore_s3_s": 3},
  "pools": [{"name": "a", "purchase": "spot", "usd_per_instance_hour": 1}]})");
    ASSERT_EQ(all.size(), 1u);
    EXPECT_NE(all[0].what.find("process"), std::string::npos);
}

}  // namespace
}  // namespace trainyard::plan
