#include "trainyard/agent/journal.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace trainyard::agent {
namespace {

class Bench {
  public:
    Bench()
        : path(testing::TempDir() + "trainyard-journal-" + std::to_string(::getpid()) + "-" +
               testing::UnitTest::GetInstance()->current_test_info()->name()) {
        remove();
    }
    ~Bench() { remove(); }
    void remove() const {
        for (const char* end : {"", "-wal", "-shm"}) std::filesystem::remove(path + end);
    }
    std::string path;
};

TEST(Journal, WhatWasSavedIsThereAgain) {
    Bench b;
    Memory memory;
    memory.attempts = 4;
    memory.preemptions = 2;
    memory.committed = 90;
    memory.saved = 100;
    memory.resumed = 80;
    memory.step = 104;
    memory.failures = {{3, 104, "exit code 1"}, {4, -1, "hang: it's \"stuck\"; DROP TABLE"}};
    AttemptRow row;
    row.number = 4;
    row.started_ns = 1'796'113'320'123'456'789;
    row.from_step = 80;
    row.directory = "/a b/attempts/0004";
    row.keeper = {.host = "h", .boot = "b", .pid = 77, .start = 123456789012};
    {
        const auto journal = Journal::open(b.path);
        ASSERT_TRUE(journal);
        EXPECT_FALSE((*journal)->last_attempt());
        EXPECT_FALSE((*journal)->save(memory));
        EXPECT_FALSE((*journal)->save(row));
        EXPECT_FALSE((*journal)->set("command", "x"));
        EXPECT_FALSE((*journal)->set("command", "y"));
    }
    const auto journal = Journal::open(b.path);
    ASSERT_TRUE(journal);
    const Memory again = (*journal)->load();
    EXPECT_EQ(again.attempts, 4);
    EXPECT_EQ(again.committed, 90);
    EXPECT_EQ(again.saved, 100);
    EXPECT_EQ(again.step, 104);
    ASSERT_EQ(again.failures.size(), 2U);
    EXPECT_EQ(again.failures[1].cause, memory.failures[1].cause);
    EXPECT_EQ(again.failures[1].step, -1);
    const auto last = (*journal)->last_attempt();
    ASSERT_TRUE(last);
    EXPECT_EQ(last->started_ns, row.started_ns);
    EXPECT_EQ(last->keeper, row.keeper);
    EXPECT_EQ((*journal)->get("command"), "y");
    EXPECT_EQ((*journal)->get("nothing"), std::nullopt);
}

TEST(Journal, RequestsAreTakenOnce) {
    Bench b;
    const auto one = Journal::open(b.path);
    const auto other = Journal::open(b.path);
    ASSERT_TRUE(one && other);
    EXPECT_FALSE((*other)->ask("stop"));
    EXPECT_EQ((*one)->take_requests(), std::vector<std::string>{"stop"});
    EXPECT_TRUE((*one)->take_requests().empty());
}

TEST(Journal, WhatIsNoneIsRefused) {
    Bench b;
    std::ofstream(b.path) << std::string(5000, 'x');
    const auto garbage = Journal::open(b.path);
    ASSERT_FALSE(garbage);
    EXPECT_EQ(garbage.error().kind, ErrorKind::world);
    EXPECT_FALSE(Journal::open("/no/such/directory/state.db"));
}

TEST(Journal, ANewerFormatIsRefused) {
    Bench b;
    {
        const auto journal = Journal::open(b.path);
        ASSERT_TRUE(journal);
        EXPECT_FALSE((*journal)->set("version", 2));
    }
    const auto journal = Journal::open(b.path);
    ASSERT_FALSE(journal);
    EXPECT_EQ(journal.error().diagnostics.front().why, "it was written by a newer trainyard");
}

}  // namespace
}  // namespace trainyard::agent
