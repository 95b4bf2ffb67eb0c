#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>

#include "trainyard/sys/memory_env.hpp"

namespace trainyard::sys {
namespace {

/// The same expectations of both: the memory one is worth nothing if it differs from the machine.
class EnvTest : public ::testing::TestWithParam<bool> {
  protected:
    EnvTest() {
        std::string name = (std::filesystem::temp_directory_path() / "env_XXXXXX").string();
        directory_ = GetParam() ? std::string("/test") : std::string(::mkdtemp(name.data()));
        memory_.put_file(directory_ + "/scene", "");
    }
    ~EnvTest() override {
        if (!GetParam()) std::filesystem::remove_all(directory_);
    }
    EnvTest(const EnvTest&) = delete;
    EnvTest& operator=(const EnvTest&) = delete;
    Env& env() { return GetParam() ? static_cast<Env&>(memory_) : real_env(); }
    std::string at(const std::string& name) const { return directory_ + "/" + name; }
    void write(const std::string& name, std::string_view text) {
        auto file = env().create(at(name));
        ASSERT_TRUE(file);
        ASSERT_TRUE((*file)->write_at(0, text));
        ASSERT_TRUE((*file)->sync());
    }
    std::string read(const std::string& name) {
        const auto text = read_whole(env(), at(name), 1000);
        return text ? *text : "errno " + std::to_string(text.error().code);
    }
    template <typename T>
    int code(const IoResult<T>& result) {
        return result ? 0 : result.error().code;
    }

    MemoryEnv memory_;
    std::string directory_;
};

TEST_P(EnvTest, FilesAreWrittenReadAndReplaced) {
    write("a", "hello");
    EXPECT_EQ(read("a"), "hello");
    EXPECT_EQ(code(env().create(at("a"))), EEXIST);
    EXPECT_EQ(code(env().open(at("b"))), ENOENT);
    EXPECT_EQ(code(read_whole(env(), at("a"), 4)), EFBIG);
    write("b", "other");
    EXPECT_EQ(code(env().link(at("b"), at("a"))), EEXIST);
    EXPECT_EQ(code(env().link(at("b"), at("c"))), 0);
    EXPECT_EQ(code(env().rename(at("b"), at("a"))), 0);
    EXPECT_EQ(read("a"), "other");
    EXPECT_EQ(read("b"), "errno 2");
    EXPECT_EQ(code(env().unlink(at("c"))), 0);
    EXPECT_EQ(code(env().unlink(at("c"))), ENOENT);
    EXPECT_EQ(env().status(at("a"))->size, 5U);
}

TEST_P(EnvTest, WritesBeyondTheEndLeaveZeros) {
    auto file = env().create(at("hole"));
    ASSERT_TRUE(file);
    ASSERT_TRUE((*file)->write_at(3, "x"));
    EXPECT_EQ(read("hole"), std::string("\0\0\0x", 4));
    auto again = env().open_to_write(at("hole"));
    ASSERT_TRUE(again);
    ASSERT_TRUE((*again)->write_at(0, "abc"));
    EXPECT_EQ(read("hole"), "abcx");
}

TEST_P(EnvTest, DirectoriesAreMadeListedAndRemoved) {
    EXPECT_TRUE(make_directories(env(), at("p/q/r")));
    EXPECT_TRUE(make_directories(env(), at("p/q/r")));
    write("p/file", "");
    const auto entries = env().list(at("p"));
    ASSERT_TRUE(entries);
    EXPECT_EQ(entries->size(), 2U);
    EXPECT_EQ(env().status(at("p"))->kind, FileKind::directory);
    EXPECT_EQ(code(env().remove_directory(at("p"))), ENOTEMPTY);
    EXPECT_EQ(code(env().remove_directory(at("p/q/r"))), 0);
    EXPECT_EQ(code(env().list(at("p/q/r"))), ENOENT);
    EXPECT_EQ(code(env().make_directory(at("p"))), EEXIST);
}

TEST_P(EnvTest, KnowsTheLivingFromTheDead) {
    ProcessId me = env().self();
    EXPECT_TRUE(env().may_be_alive(me));
    me.pid += 1 << 23;  // beyond the largest pid of Linux
    EXPECT_FALSE(env().may_be_alive(me));
    me.host = "elsewhere";
    EXPECT_TRUE(env().may_be_alive(me)) << "nobody can know";
}

INSTANTIATE_TEST_SUITE_P(Real, EnvTest, ::testing::Values(false));
INSTANTIATE_TEST_SUITE_P(Memory, EnvTest, ::testing::Values(true));

TEST(MemoryEnv, APowerCutKeepsWhatWasSyncedAndNothingElseForSure) {
    bool lost_name = false;
    bool torn = false;
    for (std::uint64_t seed = 1; seed < 200; ++seed) {
        MemoryEnv env(seed);
        env.put_file("/d/keep", "safe");
        auto synced = env.create("/d/synced");
        ASSERT_TRUE((*synced)->write_at(0, "bytes"));
        ASSERT_TRUE((*synced)->sync());
        ASSERT_TRUE(env.sync_directory("/d"));
        auto loose = env.create("/d/loose");
        const std::string big(20000, 'x');
        ASSERT_TRUE((*loose)->write_at(0, big));
        env.lose_power();
        const auto files = env.files();
        EXPECT_EQ(files.at("d/keep"), "safe");
        EXPECT_EQ(files.at("d/synced"), "bytes");
        const auto found = files.find("d/loose");
        lost_name = lost_name || found == files.end();
        torn = torn || (found != files.end() && found->second != big);
    }
    EXPECT_TRUE(lost_name);
    EXPECT_TRUE(torn);
}

TEST(MemoryEnv, ARenameWithoutASyncOfTheDirectoryMayBeUndone) {
    bool old = false;
    bool fresh = false;
    for (std::uint64_t seed = 1; seed < 50; ++seed) {
        MemoryEnv env(seed);
        env.put_file("/d/name", "old");
        env.put_file("/d/new", "new");
        ASSERT_TRUE(env.rename("/d/new", "/d/name"));
        env.lose_power();
        const std::string left = env.files().at("d/name");
        old = old || left == "old";
        fresh = fresh || left == "new";
    }
    EXPECT_TRUE(old && fresh);
}

TEST(MemoryEnv, AKilledProcessChangesNothingMore) {
    MemoryEnv env;
    env.put_file("/d/a", "1");
    env.faults.arm({.at = 2, .kill = true, .after = true});
    EXPECT_TRUE(env.rename("/d/a", "/d/b"));
    EXPECT_FALSE(env.rename("/d/b", "/d/c")) << "took effect, but nobody learned of it";
    EXPECT_FALSE(env.rename("/d/c", "/d/d"));
    const ProcessId dead = env.self();
    env.end_process();
    EXPECT_EQ(env.files().count("d/c"), 1U);
    EXPECT_FALSE(env.may_be_alive(dead));
    EXPECT_TRUE(env.rename("/d/c", "/d/d"));
}

}  // namespace
}  // namespace trainyard::sys
