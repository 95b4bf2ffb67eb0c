#include "trainyard/agent/machine.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <csignal>

#include "machine_bench.hpp"

namespace trainyard::agent {
namespace {

using Kind = AttemptOutcome::Kind;
using Phase = Machine::Phase;

/// The machine of one node.
class Bench : public MachineBench {
  public:
    explicit Bench(Policy policy = standard(), Memory memory = {})
        : MachineBench(policy, std::move(memory)) {}

    static Policy standard() {
        Policy p;
        p.has_checkpoints = true;
        p.has_store = true;
        return p;
    }
    /// Lets the time pass; the machine gets a Tick when it asked for one.
    void pass(Seconds t) {
        const Instant end = time + t;
        for (int i = 0; i < 10'000; ++i) {
            const auto due = machine.wake();
            if (!due || *due > end) break;
            time = std::max(time, *due);
            feed(event::Tick{});
        }
        time = end;
    }
    bool said(const std::string& event) const {
        for (const Action& a : actions) {
            const auto* s = std::get_if<action::Say>(&a);
            if (s != nullptr && s->event == event) return true;
        }
        return false;
    }
    void start(std::int64_t from = -1, std::int64_t stored = -1) {
        feed(event::Begin{});
        feed(event::Prepared{from < 0 ? "" : "dir", from, stored});
        actions.clear();
    }
    /// A failure, and the next attempt from `from`.
    void fail_at(std::int64_t step, std::int64_t from, int code = 1) {
        feed(event::Progress{step});
        feed(event::Ended{{Kind::exited, code}});
        pass(10 * kMinute);
        if (machine.phase() == Phase::preparing) feed(event::Prepared{"dir", from, from});
    }
};

TEST(Machine, ACommandThatEndsWellEndsTheRun) {
    Bench b;
    b.feed(event::Begin{});
    EXPECT_TRUE(b.take<action::Prepare>());
    b.feed(event::Prepared{});
    EXPECT_EQ(b.take<action::Start>()->attempt, 1);
    b.feed(event::Ended{{Kind::exited, 0}});
    EXPECT_EQ(b.take<action::Finish>()->ending, Ending::done);
}

TEST(Machine, TheEndWaitsForTheLastUpload) {
    Bench b;
    b.start();
    b.feed(event::Saved{"c-10", 10, 100});
    EXPECT_EQ(b.take<action::Put>()->step, 10);
    b.feed(event::Saved{"c-20", 20, 100});
    b.feed(event::Saved{"c-30", 30, 100});  // 20 is overtaken
    b.feed(event::Ended{{Kind::exited, 0}});
    EXPECT_FALSE(b.take<action::Finish>());
    b.feed(event::Committed{10, 100, kSecond});
    EXPECT_EQ(b.take<action::Put>()->step, 30);
    EXPECT_FALSE(b.take<action::Finish>());
    b.feed(event::Committed{30, 100, kSecond});
    EXPECT_EQ(b.take<action::Finish>()->ending, Ending::done);
}

TEST(Machine, AFailureStartsAgainWithGrowingPauses) {
    Bench b;
    b.start();
    Seconds before = 0 * kSecond;
    for (int i = 0; i < 4; ++i) {
        b.feed(event::Progress{i});  // another step each time: not poison
        b.feed(event::Ended{{Kind::exited, 1}});
        const Seconds pause = *b.machine.wake() - b.time;
        EXPECT_GT(pause, before);
        before = pause;
        b.pass(pause);
        EXPECT_TRUE(b.take<action::Prepare>());
        b.feed(event::Prepared{});
        EXPECT_TRUE(b.take<action::Start>());
    }
    // 1, 2, 4, 8 s, each up to 20 % more or less.
    EXPECT_GT(before, 6.4 * kSecond);
    EXPECT_LT(before, 9.6 * kSecond);
}

TEST(Machine, TheSameStepThreeTimesIsPoison) {
    Bench b;
    b.start();
    b.fail_at(105, 100);
    b.fail_at(105, 100);
    EXPECT_FALSE(b.take<action::Finish>());
    b.fail_at(105, 100);
    EXPECT_EQ(b.take<action::Finish>()->ending, Ending::poison_step);
    ASSERT_EQ(b.machine.memory().failures.size(), 3U);
    EXPECT_EQ(b.machine.memory().failures[0].cause, "exit code 1");
    EXPECT_EQ(b.machine.memory().failures[2].step, 105);
}

TEST(Machine, FailuresAtOtherStepsEndAtTheLimit) {
    Policy policy = Bench::standard();
    policy.max_restarts = 4;
    Bench b(policy);
    b.start();
    for (int i = 0; i < 4; ++i) b.fail_at(100 + i, 90);
    EXPECT_FALSE(b.take<action::Finish>());
    b.fail_at(110, 90);
    EXPECT_EQ(b.take<action::Finish>()->ending, Ending::out_of_restarts);
}

TEST(Machine, ANewCheckpointForgivesTheFailuresBefore) {
    Bench b;
    b.start();
    b.fail_at(105, 100);
    b.fail_at(105, 100);
    b.feed(event::Saved{"c-110", 110, 1});
    b.feed(event::Committed{110, 1, kSecond});
    EXPECT_TRUE(b.machine.memory().failures.empty());
    // The one that the attempt began from is no progress.
    b.fail_at(115, 110);
    b.feed(event::Saved{"c-110", 110, 1});
    EXPECT_EQ(b.machine.memory().failures.size(), 1U);
}

TEST(Machine, ANoticeIsNeverAFailure) {
    Bench b;
    b.start();
    b.feed(event::Progress{42});
    b.feed(event::Notice{"spot terminate", b.time + 120 * kSecond});
    EXPECT_TRUE(b.take<action::AskCheckpoint>());
    b.pass(3 * kSecond);
    b.feed(event::Saved{"c-43", 43, 1000});
    EXPECT_TRUE(b.take<action::TakeBackAsk>());
    EXPECT_TRUE(b.take<action::Put>());
    EXPECT_FALSE(b.take<action::Terminate>());  // not before it is in the store
    b.feed(event::Committed{43, 1000, kSecond});
    EXPECT_TRUE(b.take<action::Terminate>());
    b.feed(event::Ended{{Kind::signalled, SIGTERM}});
    EXPECT_EQ(b.take<action::Finish>()->ending, Ending::preempted);
    EXPECT_TRUE(b.machine.memory().failures.empty());
    EXPECT_EQ(b.machine.memory().preemptions, 1);
}

TEST(Machine, ACommandThatSavesAndEndsByItselfIsPreemptedToo) {
    Bench b;
    b.start();
    b.feed(event::Notice{"spot terminate", b.time + 120 * kSecond});
    b.feed(event::Saved{"c-43", 43, 1000});
    b.feed(event::Ended{{Kind::exited, 0}});
    EXPECT_FALSE(b.take<action::Finish>());  // the upload goes on
    b.feed(event::Committed{43, 1000, kSecond});
    EXPECT_EQ(b.take<action::Finish>()->ending, Ending::preempted);
}

TEST(Machine, TheWindowEndsAWaitInVain) {
    Bench b;
    b.start(10, 10);
    b.feed(event::Notice{"spot terminate", b.time + 60 * kSecond});
    b.pass(54 * kSecond);
    EXPECT_FALSE(b.take<action::Terminate>());
    b.pass(2 * kSecond);  // 5 s are kept for the end
    EXPECT_TRUE(b.take<action::Terminate>());
    EXPECT_TRUE(b.said("too-late"));
    b.pass(5 * kSecond);
    EXPECT_TRUE(b.take<action::Kill>());
    b.feed(event::Ended{{Kind::signalled, SIGKILL}});
    EXPECT_EQ(b.take<action::Finish>()->ending, Ending::preempted);
    EXPECT_EQ(b.machine.memory().committed, 10);
}

TEST(Machine, AnUploadThatDoesNotEndInTheWindowIsLeft) {
    Bench b;
    b.start();
    b.feed(event::Notice{"spot terminate", b.time + 30 * kSecond});
    b.feed(event::Saved{"c-43", 43, 1000});
    b.pass(26 * kSecond);
    EXPECT_TRUE(b.take<action::Terminate>());
    b.feed(event::Ended{{Kind::exited, 0}});
    EXPECT_FALSE(b.take<action::Finish>());
    b.pass(10 * kSecond);
    EXPECT_TRUE(b.take<action::AbandonPut>());
    EXPECT_TRUE(b.said("not-uploaded"));
    EXPECT_EQ(b.take<action::Finish>()->ending, Ending::preempted);
}

TEST(Machine, WhatCannotFitIsNotBegun) {
    Bench b;
    b.start();
    b.feed(event::Saved{"c-10", 10, 50'000'000'000});
    b.feed(event::Committed{10, 50'000'000'000, 100 * kSecond});  // 0.5 GB/s: 100 s for the next
    b.feed(event::Notice{"spot terminate", b.time + 60 * kSecond});
    EXPECT_FALSE(b.take<action::AskCheckpoint>());
    EXPECT_TRUE(b.said("does-not-fit"));
    EXPECT_TRUE(b.take<action::Terminate>());
}

TEST(Machine, TheStoresForecastDecidesAndTenSecondsAreKept) {
    for (const double seconds : {105.0, 115.0}) {  // of 120, 10 are kept for the commit
        Bench b;
        b.start();
        b.feed(event::Saved{"/out/10", 10, 50'000'000'000});
        b.feed(event::Committed{10, 50'000'000'000, 10 * kSecond});
        b.machine.learn(store::Forecast{50e9 / (seconds - 1), 1 * kSecond});  // slower now
        b.feed(event::Notice{"spot terminate", b.time + 120 * kSecond});
        EXPECT_EQ(b.machine.commit_margin(), store::kCommitMargin);
        EXPECT_EQ(b.said("does-not-fit"), seconds > 110);
        EXPECT_EQ(b.take<action::AskCheckpoint>().has_value(), seconds < 110);
    }
}

TEST(Machine, AnUploadUnderWayCountsToo) {
    Bench b;
    b.start();
    b.machine.learn(store::Forecast{1e9, 0 * kSecond});
    b.feed(event::Saved{"/out/10", 10, 60'000'000'000});  // 60 s, just begun, and 60 more
    b.feed(event::Notice{"spot terminate", b.time + 120 * kSecond});
    EXPECT_TRUE(b.said("does-not-fit"));
}

TEST(Machine, APutThatIsGivenUpEndsTheCommandAndSaysWhatStands) {
    Bench b;
    b.start();
    b.feed(event::Saved{"/out/10", 10, 1000});
    b.feed(event::Committed{10, 1000, 1 * kSecond});
    b.feed(event::Notice{"spot terminate", b.time + 120 * kSecond});
    b.feed(event::Saved{"/out/14", 14, 1000});
    b.feed(event::PutFailed{"not committed in time", true});
    EXPECT_TRUE(b.said("too-late"));
    EXPECT_TRUE(b.take<action::Terminate>());
}

TEST(Machine, ANoticeThatGoesAwayLetsTheRunGoOn) {
    Bench b;
    b.start();
    b.feed(event::Notice{"spot terminate", b.time + 60 * kSecond});
    b.feed(event::NoticeGone{});
    EXPECT_EQ(b.machine.phase(), Phase::running);
    b.pass(kHour);
    EXPECT_FALSE(b.take<action::Terminate>());
    EXPECT_EQ(b.machine.memory().preemptions, 0);
}

TEST(Machine, TheEarlierOfTwoDeadlinesRules) {
    Bench b;
    b.start();
    b.feed(event::Notice{"spot terminate", b.time + 120 * kSecond});
    b.feed(event::Wind{Drain::terminate, "SIGTERM"});  // 30 s
    EXPECT_EQ(*b.machine.drain_deadline(), b.time + 30 * kSecond);
    EXPECT_EQ(b.machine.memory().preemptions, 1);
}

TEST(Machine, WithoutACheckpointDirectoryTheCommandIsAskedToEnd) {
    Policy policy;
    Bench b(policy);
    b.start();
    b.feed(event::Wind{Drain::terminate, "SIGTERM"});
    EXPECT_TRUE(b.take<action::Terminate>());
    b.feed(event::Ended{{Kind::exited, 0}});
    EXPECT_EQ(b.take<action::Finish>()->ending, Ending::preempted);
}

TEST(Machine, CtrlCTwiceWaitsNoMore) {
    Bench b;
    b.start();
    b.feed(event::Wind{Drain::interrupt, "Ctrl-C"});
    EXPECT_TRUE(b.take<action::AskCheckpoint>());
    b.feed(event::Wind{Drain::interrupt, "Ctrl-C"});
    EXPECT_TRUE(b.take<action::Terminate>());
    b.feed(event::Wind{Drain::interrupt, "Ctrl-C"});
    EXPECT_TRUE(b.take<action::Kill>());
    b.feed(event::Ended{{Kind::signalled, SIGKILL}});
    EXPECT_EQ(b.take<action::Finish>()->ending, Ending::interrupted);
}

TEST(Machine, ASignalWhileItWaitsEndsIt) {
    Bench b;
    b.start();
    b.feed(event::Ended{{Kind::exited, 1}});
    EXPECT_EQ(b.machine.phase(), Phase::waiting);
    b.feed(event::Wind{Drain::stop, "stop"});
    EXPECT_EQ(b.take<action::Finish>()->ending, Ending::stopped);
}

TEST(Machine, ASignalWhileItPreparesStartsNothing) {
    Bench b;
    b.feed(event::Begin{});
    b.feed(event::Wind{Drain::terminate, "SIGTERM"});
    b.feed(event::Prepared{"dir", 10, 10});
    EXPECT_FALSE(b.take<action::Start>());
    EXPECT_EQ(b.take<action::Finish>()->ending, Ending::preempted);
}

TEST(Machine, AStoreThatIsAwayIsTriedAgainAndAtLastGivenUp) {
    Bench b;
    b.feed(event::Begin{});
    for (int i = 1; i < 20; ++i) {
        b.feed(event::PrepareFailed{"no route"});
        EXPECT_FALSE(b.take<action::Finish>());
        b.pass(5 * kMinute);
        EXPECT_EQ(b.machine.phase(), Phase::preparing);
    }
    b.feed(event::PrepareFailed{"no route"});
    EXPECT_EQ(b.take<action::Finish>()->ending, Ending::world);
}

TEST(Machine, APutThatFailsIsTriedAgainOrOvertaken) {
    Bench b;
    b.start();
    b.feed(event::Saved{"c-10", 10, 100});
    EXPECT_TRUE(b.take<action::Put>());
    b.feed(event::PutFailed{"503"});
    EXPECT_FALSE(b.take<action::Put>());
    b.feed(event::Saved{"c-20", 20, 100});
    EXPECT_FALSE(b.take<action::Put>());  // the pause holds for the newer one too
    b.pass(3 * kSecond);
    EXPECT_EQ(b.take<action::Put>()->step, 20);
    b.feed(event::PutFailed{"gone", true});  // its trainer deleted it
    b.pass(kHour);
    EXPECT_FALSE(b.take<action::Put>());
}

TEST(Machine, AHangIsEndedAndCountsAsAFailure) {
    Bench b;
    b.start();
    b.feed(event::Progress{7});
    b.feed(event::Hang{"no progress for 300 s"});
    EXPECT_TRUE(b.take<action::Terminate>());
    b.pass(31 * kSecond);
    EXPECT_TRUE(b.take<action::Kill>());
    b.feed(event::Ended{{Kind::signalled, SIGKILL}});
    ASSERT_EQ(b.machine.memory().failures.size(), 1U);
    EXPECT_EQ(b.machine.memory().failures[0].cause, "hang: no progress for 300 s");
    EXPECT_EQ(b.machine.phase(), Phase::waiting);
}

TEST(Machine, ACommandThatCannotBeStartedIsNotTriedAgain) {
    Bench b;
    b.start();
    b.feed(event::Ended{{Kind::not_started, ENOENT}});
    EXPECT_EQ(b.take<action::Finish>()->ending, Ending::world);
}

TEST(Machine, AFullDiskOrMemoryAtTheStartGoesBy) {
    for (const AttemptOutcome& o :
         {AttemptOutcome{Kind::no_keeper, ENOSPC}, AttemptOutcome{Kind::not_started, ENOMEM}}) {
        Bench b;
        b.start();
        b.feed(event::Ended{o});
        EXPECT_FALSE(b.take<action::Finish>());
        b.pass(2 * kSecond);
        EXPECT_EQ(b.machine.phase(), Phase::preparing);
    }
    // Tried for an hour or so, without ever counting against the command.
    Bench b;
    b.start();
    for (int i = 1; i < 20; ++i) {
        b.feed(event::Ended{{Kind::no_keeper, ENOSPC}});
        b.pass(6 * kMinute);
        b.feed(event::Prepared{});
    }
    EXPECT_FALSE(b.take<action::Finish>());
    EXPECT_TRUE(b.machine.memory().failures.empty());
    b.feed(event::Ended{{Kind::no_keeper, ENOSPC}});
    EXPECT_EQ(b.take<action::Finish>()->ending, Ending::world);
}

TEST(Machine, ARestartOfTheMachineIsNoFailure) {
    Bench b;
    b.feed(event::Adopted{3, false});
    b.feed(event::Ended{{Kind::rebooted, 0}});
    EXPECT_TRUE(b.take<action::Prepare>());
    EXPECT_TRUE(b.machine.memory().failures.empty());
}

TEST(Machine, StartingOverDespiteACheckpointIsAnAlarm) {
    Bench b;
    b.start(100, 100);
    b.feed(event::Progress{1});
    EXPECT_TRUE(b.said("not-resumed"));
    b.actions.clear();
    b.feed(event::Progress{2});
    EXPECT_FALSE(b.said("not-resumed"));  // said once
}

TEST(Machine, WhatIsBeyondTheResumedStepIsSentAgain) {
    // The store's 200 is damaged: the run begins from 100, and a new 150 must go there.
    Memory memory;
    memory.committed = 200;
    Bench b(Bench::standard(), memory);
    b.start(100, 100);
    b.feed(event::Saved{"c-150", 150, 1});
    EXPECT_EQ(b.take<action::Put>()->step, 150);
}

}  // namespace
}  // namespace trainyard::agent
