#include "next_steps.hpp"

#include <gtest/gtest.h>

#include "test_job.hpp"
#include "trainyard/base/text.hpp"

namespace trainyard::plan {
namespace {

Plan plan_of(const Request& r) {
    auto p = make_plan(r, test::catalog(), Assumptions::embedded());
    EXPECT_TRUE(p.has_value());
    return p ? std::move(*p) : Plan{};
}

/// The value of an option in a command line; empty if it is not there.
std::string value_of(const std::string& command, const std::string& option) {
    const std::string key = "--" + option + " ";
    const std::size_t at = command.find(key);
    if (at == std::string::npos) return {};
    const std::size_t from = at + key.size();
    return command.substr(from, command.find(' ', from) - from);
}

TEST(NextSteps, EveryCommandAfterARefusalLeadsToAPlan) {
    Request r = test::request(test::model("llama-3.1-8b"), 300e9);
    r.typed.job = "llama-3.1-8b";
    r.job.spot = workload::SpotPolicy::forbidden;
    r.job.deadline = 10 * kDay;
    r.job.budget = 9000 * kUsd;
    const Plan p = plan_of(r);
    ASSERT_FALSE(p.chosen.has_value()) << p.verdict;
    ASSERT_EQ(p.next.size(), 2U);
    for (const std::string& command : p.next) {
        Request changed = r;
        if (const auto v = value_of(command, "deadline"); !v.empty())
            changed.job.deadline = parse_duration(v);
        if (const auto v = value_of(command, "budget"); !v.empty())
            changed.job.budget = parse_usd(v);
        if (const auto v = value_of(command, "tokens"); !v.empty())
            changed.job.tokens = *parse_count(v) * kToken;
        EXPECT_TRUE(plan_of(changed).chosen.has_value()) << command;
    }
}

TEST(NextSteps, RepeatWhatWasTypedAsAShellReadsIt) {
    Request r = test::request(test::model("llama-3.1-8b"), 300e9);
    r.typed = {"my job's.yaml", {{"no-spot", ""}, {"deadline", "1d"}, {"regions", "us-east-1"}}};
    r.job.spot = workload::SpotPolicy::forbidden;
    r.job.instance = "p4d.24xlarge";
    r.job.nodes = 1;
    r.job.deadline = 1 * kDay;
    r.job.regions = {"us-east-1"};
    const Plan p = plan_of(r);
    ASSERT_FALSE(p.next.empty());
    const std::string start =
        "trainyard plan 'my job'\\''s.yaml' --no-spot --regions us-east-1 --deadline ";
    EXPECT_EQ(p.next.front().substr(0, start.size()), start);
}

}  // namespace
}  // namespace trainyard::plan
