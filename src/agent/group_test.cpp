#include "trainyard/agent/group.hpp"

#include <gtest/gtest.h>

#include <fmt/format.h>

#include "machine_bench.hpp"

namespace trainyard::agent {
namespace {

using State = NodeRecord::State;

/// A store that all nodes see at once, and nodes that do what they are told in no time.
class Board {
  public:
    explicit Board(int count, int fewest, int most) : fewest_(fewest), most_(most) {
        for (int i = 0; i < count; ++i) add(fmt::format("n{}", i));
    }
    void add(const std::string& name) {
        GroupSettings s;
        s.self = name;
        s.fewest = fewest_;
        s.most = most_;
        s.grow_after = kMinute;
        NodeRecord record;
        record.name = name;
        record.token = fmt::format("token-{}-{}", name, lives_++);
        record.address = "10.0.0." + std::to_string(lives_);
        record.neighbours = {name};
        nodes_.insert_or_assign(name, Node{Group(s), record, true, 0, {}});
    }
    /// Two seconds: each node that lives looks once.
    void look() {
        time_ += 2 * kSecond;
        for (auto& [name, node] : nodes_) {
            if (!node.is_alive) continue;
            ++node.beat;
            std::vector<Event> events = node.group.look(view(), node.record, time_);
            for (Event& event : events) node.told.push_back(std::move(event));
            if (node.group.proposal() && !newest) newest = node.group.proposal();
            const bool is_next =
                newest && node.group.proposal() && node.group.proposal()->number > newest->number;
            if (is_next) newest = node.group.proposal();
        }
    }
    void look(int times) {
        for (int i = 0; i < times; ++i) look();
    }
    /// All that were taken into the generation begin to work.
    void work() {
        look();
        for (auto& [name, node] : nodes_) {
            const auto grouped = take<event::Grouped>(name);
            if (!grouped) continue;
            node.record.state = State::working;
            node.record.generation = grouped->place.generation;
            node.place = grouped->place;
        }
    }
    NodeRecord& of(const std::string& name) { return nodes_.at(name).record; }
    const GroupPlace& place(const std::string& name) { return nodes_.at(name).place; }
    void lose(const std::string& name) { nodes_.at(name).is_alive = false; }
    template <typename T>
    std::optional<T> take(const std::string& name) {
        return take_first<T>(nodes_.at(name).told);
    }
    std::vector<std::string> names() const {
        std::vector<std::string> all;
        for (const Generation::Node& node : newest->nodes) all.push_back(node.name);
        return all;
    }
    void blind_all() {
        for (auto& [name, node] : nodes_) node.group.blind(time_);
    }
    void pass(Seconds t) { time_ += t; }

    std::optional<Generation> newest;

  private:
    struct Node {
        Group group;
        NodeRecord record;
        bool is_alive = true;
        int beat = 0;
        std::vector<Event> told;
        GroupPlace place = {};
    };
    GroupView view() const {
        GroupView v;
        for (const auto& [name, node] : nodes_) {
            v.nodes.push_back({node.record, std::to_string(node.beat)});
        }
        v.newest = newest;
        return v;
    }
    int fewest_;
    int most_;
    int lives_ = 0;
    Instant time_ = 1000 * kSecond;
    std::map<std::string, Node> nodes_;
};

using Names = std::vector<std::string>;

TEST(Group, AFullGroupBeginsAtOnceEachWithItsRank) {
    Board b(3, 3, 3);
    b.look(3);
    ASSERT_TRUE(b.newest);
    EXPECT_EQ(b.newest->number, 1);
    EXPECT_EQ(b.names(), (Names{"n0", "n1", "n2"}));
    b.work();
    for (int i = 0; i < 3; ++i) {
        const GroupPlace& p = b.place(fmt::format("n{}", i));
        EXPECT_EQ(p.rank, i);
        EXPECT_EQ(p.nodes, 3);
        EXPECT_EQ(p.first_address, b.of("n0").address);
    }
}

TEST(Group, TooFewWait) {
    Board b(2, 3, 4);
    b.look(60);
    EXPECT_FALSE(b.newest);
    const auto said = b.take<event::Remark>("n1");
    ASSERT_TRUE(said);
    EXPECT_NE(said->text.find("of at least 3"), std::string::npos) << said->text;
}

TEST(Group, EnoughButNotAllWaitForALittleWhile) {
    Board b(2, 2, 4);
    b.look(10);
    EXPECT_FALSE(b.newest) << "30 s are not over";
    b.look(8);
    ASSERT_TRUE(b.newest);
    EXPECT_EQ(b.names(), (Names{"n0", "n1"}));
}

TEST(Group, ARecordOfADeadNodeIsNoSignOfLife) {
    Board b(3, 2, 3);
    b.lose("n2");
    b.look(30);
    ASSERT_TRUE(b.newest);
    EXPECT_EQ(b.names(), (Names{"n0", "n1"}));
}

/// Nodes that were told to end are ready again.
void end_all(Board& b, const Names& names) {
    for (const std::string& name : names) {
        EXPECT_TRUE(b.take<event::Regroup>(name)) << name;
        b.of(name).state = State::ready;
    }
}

TEST(Group, ALostNodeEndsTheGenerationAndTheOthersGoOn) {
    Board b(4, 2, 4);
    b.look(3);
    b.work();
    b.look(10);
    EXPECT_FALSE(b.take<event::Regroup>("n0")) << "all is well";
    b.lose("n1");
    b.look(4);
    EXPECT_FALSE(b.take<event::Regroup>("n0")) << "10 s are not over";
    b.look(2);
    end_all(b, {"n0", "n2", "n3"});
    b.look(4);
    EXPECT_EQ(b.newest->number, 2);
    EXPECT_EQ(b.names(), (Names{"n0", "n2", "n3"}));
    EXPECT_EQ(b.newest->reason, "3 of 4 nodes are left");
}

TEST(Group, NoGenerationWhileAnyNodeStillWorksInTheLast) {
    Board b(3, 1, 3);
    b.look(3);
    b.work();
    b.lose("n1");
    b.look(6);
    ASSERT_TRUE(b.take<event::Regroup>("n0"));
    b.of("n0").state = State::ready;
    b.look(20);
    EXPECT_EQ(b.newest->number, 1) << "n2 has not ended its command";
    b.of("n2").state = State::ready;
    b.look(5);
    EXPECT_EQ(b.newest->number, 2);
}

TEST(Group, AStoreThatCannotBeReadMakesNobodyLost) {
    Board b(3, 2, 3);
    b.look(3);
    b.work();
    b.look(2);
    b.pass(10 * kMinute);
    b.blind_all();
    b.look(3);
    for (const char* name : {"n0", "n1", "n2"}) EXPECT_FALSE(b.take<event::Regroup>(name)) << name;
}

TEST(Group, AFailureElsewhereEndsAtOnce) {
    Board b(2, 2, 2);
    b.look(3);
    b.work();
    b.look();
    b.of("n1").state = State::failed;
    b.of("n1").cause = "exit code 17";
    b.look();
    const auto told = b.take<event::Regroup>("n0");
    ASSERT_TRUE(told);
    EXPECT_EQ(told->why, "node n1: exit code 17");
    EXPECT_FALSE(told->deadline) << "nothing can be saved";
}

TEST(Group, ANodeThatIsTakenAwayLeavesTimeToSave) {
    Board b(3, 2, 3);
    b.look(3);
    b.work();
    b.of("n2").leaves_in = 100 * kSecond;
    b.of("n2").cause = "spot terminate";
    b.look();
    const auto told = b.take<event::Regroup>("n0");
    ASSERT_TRUE(told);
    ASSERT_TRUE(told->deadline);
    EXPECT_EQ(told->why, "node n2 leaves: spot terminate");
    b.look(5);
    EXPECT_FALSE(b.take<event::Regroup>("n0")) << "told once";
}

TEST(Group, ANewNodeIsTakenInAfterAWhile) {
    Board b(2, 2, 3);
    b.look(20);
    b.work();
    b.add("a");
    b.look(20);
    EXPECT_FALSE(b.take<event::Regroup>("n1")) << "a minute is not over";
    b.look(15);
    const auto told = b.take<event::Regroup>("n1");
    ASSERT_TRUE(told);
    EXPECT_TRUE(told->deadline) << "with time to save";
    b.of("n1").state = State::ready;
    end_all(b, {"n0"});
    b.look(5);
    EXPECT_EQ(b.names(), (Names{"n0", "n1", "a"})) << "who was there keeps its rank";
}

TEST(Group, AnotherMachineOfTheSameNameIsAnotherNode) {
    Board b(2, 2, 2);
    b.look(3);
    b.work();
    b.look();
    b.add("n1");
    b.look();
    const auto told = b.take<event::Regroup>("n0");
    ASSERT_TRUE(told);
    EXPECT_EQ(told->why, "node n1 is gone");
}

TEST(Group, AllDoneIsTheEnd) {
    Board b(2, 2, 2);
    b.look(3);
    b.work();
    b.of("n0").state = State::done;
    b.look(2);
    EXPECT_FALSE(b.take<event::GroupDone>("n0")) << "n1 still trains";
    b.of("n1").state = State::done;
    b.look(2);
    EXPECT_TRUE(b.take<event::GroupDone>("n0"));
    EXPECT_TRUE(b.take<event::GroupDone>("n1"));
    EXPECT_FALSE(b.take<event::Regroup>("n0"));
}

TEST(Group, AStopOnOneNodeEndsTheRunForAll) {
    Board b(2, 1, 2);
    b.look(3);
    b.work();
    b.of("n1").ending = "stopped";
    b.of("n1").ends_all = true;
    b.of("n1").cause = "trainyard stop";
    b.look(3);
    const auto told = b.take<event::GroupEnds>("n0");
    ASSERT_TRUE(told);
    EXPECT_EQ(told->ending, Ending::stopped);
    EXPECT_FALSE(b.take<event::GroupEnds>("n0")) << "told once";
}

TEST(Group, WhatTheFirstNodeHasIsToldToTheOthers) {
    Board b(2, 2, 2);
    b.look(3);
    b.work();
    NodeRecord& first = b.of("n0");
    first.step = 12;
    first.saved = 10;
    first.saved_name = "checkpoint-10";
    b.look(2);
    EXPECT_EQ(b.take<event::GroupStep>("n1")->step, 12);
    EXPECT_EQ(b.take<event::GroupSaved>("n1")->name, "checkpoint-10");
    EXPECT_FALSE(b.take<event::GroupCommitted>("n1"));
    first.committed = 10;
    b.look(2);
    EXPECT_EQ(b.take<event::GroupCommitted>("n1")->step, 10);
    EXPECT_FALSE(b.take<event::GroupSaved>("n1")) << "told once";
}

TEST(Group, AnUploadUnderWayIsAwaited) {
    Board b(3, 2, 3);
    b.look(3);
    b.work();
    b.lose("n2");
    b.of("n0").is_uploading = true;
    b.look(6);
    end_all(b, {"n0", "n1"});
    b.look(20);
    EXPECT_EQ(b.newest->number, 1) << "40 s of the two minutes";
    b.of("n0").is_uploading = false;
    b.look(5);
    EXPECT_EQ(b.newest->number, 2);
}

TEST(Group, WhoSharesADirectoryIsSeen) {
    Board b(2, 2, 2);
    b.of("n0").neighbours = b.of("n1").neighbours = {"n0", "n1"};
    b.look(3);
    ASSERT_TRUE(b.newest);
    EXPECT_TRUE(b.newest->is_shared);

    Board mixed(3, 3, 3);
    mixed.of("n0").neighbours = mixed.of("n1").neighbours = {"n0", "n1"};
    mixed.look(20);
    EXPECT_FALSE(mixed.newest);
}

TEST(GroupRecords, AreReadBackAsWritten) {
    NodeRecord r;
    r.name = "ip-10-0-1-2";
    r.token = "t";
    r.address = "10.0.1.2";
    r.port = 29500;
    r.state = State::failed;
    r.generation = 7;
    r.saved = 100;
    r.saved_name = "checkpoint-100";
    r.leaves_in = 12.5 * kSecond;
    r.cause = "exit code 1: \"quoted\"";
    r.cost_usd = 12.25;
    r.neighbours = {"a", "b"};
    const auto read = read_node_record(write_node_record(r), "x");
    ASSERT_TRUE(read);
    EXPECT_EQ(*read, r);

    Generation g;
    g.number = 3;
    g.nodes = {{"a", "t", "10.0.0.1", 1}, {"b", "u", "10.0.0.2", 2}};
    g.from = 40;
    g.is_shared = true;
    g.reason = "2 nodes joined";
    const auto back = read_generation(write_generation(g), "x");
    ASSERT_TRUE(back);
    EXPECT_EQ(*back, g);
    EXPECT_EQ(back->rank_of("b", "u"), 1);
    EXPECT_FALSE(back->rank_of("b", "t")) << "another life of that name";
}

TEST(GroupRecords, ThePlaceIsReadBackToo) {
    GroupPlace p;
    p.generation = 4;
    p.rank = 1;
    p.nodes = 3;
    p.first_address = "10.0.0.1";
    p.first_port = 29500;
    p.from = 40;
    p.is_shared = true;
    p.reason = "one node joined";
    const auto back = read_place(write_place(p), "x");
    ASSERT_TRUE(back);
    EXPECT_EQ(write_place(*back), write_place(p));
    EXPECT_EQ(back->from, 40);
    EXPECT_TRUE(back->is_shared);
    EXPECT_FALSE(read_place("", "x"));
}

TEST(GroupRecords, RefuseWhatIsNone) {
    NodeRecord r;
    r.name = "a";
    const std::string whole = write_node_record(r);
    EXPECT_TRUE(read_node_record(whole, "x"));
    for (std::size_t size = 0; size + 2 < whole.size(); size += 7) {
        EXPECT_FALSE(read_node_record(whole.substr(0, size), "x")) << size;
    }
    EXPECT_FALSE(read_node_record("[]", "x"));
    EXPECT_FALSE(read_generation(whole, "x")) << "a record is no generation";
    EXPECT_FALSE(read_generation("{}", "x"));
}

}  // namespace
}  // namespace trainyard::agent
