// The machine as one of several nodes.

#include <gtest/gtest.h>

#include "machine_bench.hpp"

namespace trainyard::agent {
namespace {

using Kind = AttemptOutcome::Kind;
using Phase = Machine::Phase;

GroupPlace place(int generation, int rank, std::int64_t from = -1) {
    GroupPlace p;
    p.generation = generation;
    p.rank = rank;
    p.nodes = 2;
    p.from = from;
    return p;
}

/// A machine of a group.
class Member : public MachineBench {
  public:
    explicit Member(int rank = 1) : MachineBench(policy()), rank_(rank) {}
    static Policy policy() {
        Policy p;
        p.has_checkpoints = p.has_store = p.has_group = true;
        return p;
    }
    /// Works in generation 1.
    void start() {
        feed(event::Begin{});
        feed(event::Grouped{place(1, rank_)});
        feed(event::Prepared{"", -1, -1, 1});
        actions.clear();
    }
    void end(int code) { feed(event::Ended{{Kind::exited, code}}); }

  private:
    int rank_;
};

TEST(MachineInGroup, StartsOnlyOnceItHasItsPlace) {
    Member m;
    m.feed(event::Begin{});
    EXPECT_TRUE(m.take<action::Join>());
    EXPECT_FALSE(m.take<action::Prepare>());
    m.feed(event::Grouped{place(3, 1, 40)});
    EXPECT_EQ(m.take<action::Prepare>()->generation, 3);
    m.feed(event::Prepared{"dir", 30, 30, 2});
    EXPECT_FALSE(m.take<action::Start>()) << "that was of a generation before";
    m.feed(event::Prepared{"dir", 40, 40, 3});
    EXPECT_EQ(m.take<action::Start>()->step, 40);
}

TEST(MachineInGroup, OthersAreGone) {
    Member m;
    m.start();
    m.feed(event::Regroup{"node n0 is lost", std::nullopt});
    EXPECT_TRUE(m.take<action::Terminate>());
    EXPECT_FALSE(m.take<action::AskCheckpoint>()) << "nothing can be saved without them";
    m.time += 6 * kSecond;
    m.feed(event::Tick{});
    EXPECT_TRUE(m.take<action::Kill>()) << "it hangs in a collective";
    m.feed(event::Ended{{Kind::signalled, 9}});
    EXPECT_TRUE(m.take<action::Join>());
    EXPECT_EQ(m.machine.phase(), Phase::joining);
    EXPECT_TRUE(m.machine.memory().failures.empty()) << "no failure of this node";
    EXPECT_FALSE(m.machine.drain());
}

TEST(MachineInGroup, SavesBeforeANodeLeaves) {
    Member m;
    m.start();
    m.feed(event::Regroup{"node n0 leaves", m.time + 100 * kSecond});
    EXPECT_TRUE(m.take<action::AskCheckpoint>());
    m.feed(event::Saved{"out/checkpoint-7", 7, 0});
    EXPECT_FALSE(m.take<action::Put>()) << "the first node sends it";
    EXPECT_FALSE(m.take<action::Terminate>());
    m.feed(event::GroupCommitted{7});
    EXPECT_TRUE(m.take<action::Terminate>());
    m.end(0);
    EXPECT_TRUE(m.take<action::Join>());
    EXPECT_FALSE(m.take<action::Finish>());
}

TEST(MachineInGroup, TheFirstNodeSends) {
    Member m(0);
    m.start();
    m.feed(event::Saved{"out/checkpoint-7", 7, 100});
    EXPECT_TRUE(m.take<action::Put>());
}

TEST(MachineInGroup, ItsOwnNoticeOutranksARegroup) {
    Member m;
    m.start();
    m.feed(event::Regroup{"to go on with n5 as well", m.time + 600 * kSecond});
    m.feed(event::Notice{"spot terminate", m.time + 120 * kSecond});
    EXPECT_EQ(m.machine.comes_to(), Ending::preempted);
    EXPECT_EQ(m.machine.memory().preemptions, 1);
    m.feed(event::Saved{"out/checkpoint-7", 7, 0});
    m.feed(event::GroupCommitted{7});
    m.end(0);
    EXPECT_EQ(m.take<action::Finish>()->ending, Ending::preempted);
}

TEST(MachineInGroup, WaitsUntilAllAreDone) {
    Member m;
    m.start();
    m.end(0);
    EXPECT_EQ(m.machine.phase(), Phase::awaiting);
    EXPECT_FALSE(m.take<action::Finish>());
    m.feed(event::GroupDone{});
    EXPECT_EQ(m.take<action::Finish>()->ending, Ending::done);
}

TEST(MachineInGroup, GoesBackIfAnotherFailsAtTheEnd) {
    Member m;
    m.start();
    m.end(0);
    m.feed(event::Regroup{"node n0: exit code 1", std::nullopt});
    EXPECT_TRUE(m.take<action::Join>());
}

TEST(MachineInGroup, AFailureOfItsOwnPausesAndJoins) {
    Member m;
    m.start();
    m.end(17);
    EXPECT_EQ(m.machine.phase(), Phase::waiting);
    EXPECT_EQ(m.machine.failure(), "exit code 17");
    m.feed(event::Regroup{"node n0: exit code 1", std::nullopt});
    EXPECT_FALSE(m.take<action::Join>()) << "the pause comes first";
    m.time += kMinute;
    m.feed(event::Tick{});
    EXPECT_TRUE(m.take<action::Join>());
}

TEST(MachineInGroup, ACheckpointThatCannotBeReadIsTriedAgainInItsPlace) {
    Member m;
    m.feed(event::Begin{});
    m.feed(event::Grouped{place(1, 1, 40)});
    m.actions.clear();
    m.feed(event::PrepareFailed{"no connection", false, 1});
    m.time += kMinute;
    m.feed(event::Tick{});
    EXPECT_EQ(m.take<action::Prepare>()->generation, 1);
}

TEST(MachineInGroup, IsGivenUpWithTheOthers) {
    Member m;
    m.start();
    m.feed(event::GroupEnds{Ending::poison_step, "node n0: exit code 17"});
    EXPECT_TRUE(m.take<action::Terminate>());
    m.end(0);
    EXPECT_EQ(m.take<action::Finish>()->ending, Ending::poison_step);
}

TEST(MachineInGroup, StopsWithTheOthers) {
    Member m;
    m.feed(event::Begin{});
    m.feed(event::GroupEnds{Ending::stopped, "node n0: trainyard stop"});
    EXPECT_EQ(m.take<action::Finish>()->ending, Ending::stopped);
}

}  // namespace
}  // namespace trainyard::agent
