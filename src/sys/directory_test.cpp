#include "trainyard/sys/directory.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>

namespace trainyard::sys {
namespace {

namespace fs = std::filesystem;

class DirectoryTest : public testing::Test {
  protected:
    DirectoryTest() {
        std::string pattern = (fs::temp_directory_path() / "trainyard_test.XXXXXX").string();
        folder_ = mkdtemp(pattern.data());
    }
    ~DirectoryTest() override { fs::remove_all(folder_); }
    std::string text(const std::string& name) const {
        std::ifstream file(folder_ / name);
        return {std::istreambuf_iterator<char>(file), {}};
    }
    std::size_t entries() const {
        return static_cast<std::size_t>(
            std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
    }
    std::string out() const { return (folder_ / "out").string(); }
    fs::path folder_;
};

const std::vector<NewFile> kFiles = {{"a.txt", "one", false}, {"sub/run.sh", "two", true}};

TEST_F(DirectoryTest, WritesANewOrEmptyOne) {
    ASSERT_TRUE(write_directory(out() + "/", kFiles, Existing::refuse).has_value());
    EXPECT_EQ(text("out/a.txt"), "one");
    EXPECT_EQ(text("out/sub/run.sh"), "two");
    EXPECT_EQ(access((folder_ / "out/sub/run.sh").c_str(), X_OK), 0);
    EXPECT_EQ(fs::status(folder_ / "out/a.txt").permissions() & fs::perms::owner_exec,
              fs::perms::none);
    fs::create_directory(folder_ / "empty");
    EXPECT_TRUE(
        write_directory((folder_ / "empty").string(), kFiles, Existing::refuse).has_value());
    EXPECT_EQ(entries(), 2U);  // nothing temporary stays
}

TEST_F(DirectoryTest, AFullOneIsRefusedUntouched) {
    fs::create_directory(folder_ / "out");
    std::ofstream(folder_ / "out/a.txt") << "mine";
    const auto refused = write_directory(out(), kFiles, Existing::refuse);
    ASSERT_FALSE(refused.has_value());
    EXPECT_EQ(refused.error().kind, ErrorKind::world);
    EXPECT_EQ(text("out/a.txt"), "mine");
    EXPECT_FALSE(fs::exists(folder_ / "out/sub"));
}

TEST_F(DirectoryTest, ReplacingFollowsNoLink) {
    fs::create_directories(folder_ / "out");
    fs::create_directories(folder_ / "elsewhere");
    std::ofstream(folder_ / "out/mine.txt") << "mine";
    std::ofstream(folder_ / "elsewhere/a.txt") << "not ours";
    for (const auto& [link, leads_to] :
         {std::pair{"out/a.txt", "elsewhere/a.txt"}, std::pair{"out/sub", "elsewhere"}}) {
        fs::create_symlink(folder_ / leads_to, folder_ / link);
        const auto refused = write_directory(out(), kFiles, Existing::replace);
        ASSERT_FALSE(refused.has_value()) << link;
        EXPECT_EQ(refused.error().kind, ErrorKind::world);
        EXPECT_EQ(text("elsewhere/a.txt"), "not ours");
        EXPECT_FALSE(fs::exists(folder_ / "elsewhere/run.sh"));
        fs::remove(folder_ / link);
    }
    fs::create_directories(folder_ / "out/sub/run.sh");  // a directory where a file should go
    EXPECT_FALSE(write_directory(out(), kFiles, Existing::replace).has_value());
    EXPECT_FALSE(fs::exists(folder_ / "out/a.txt"));  // asked before the first is written
}

TEST_F(DirectoryTest, ALinkMeansWhatItLeadsTo) {
    fs::create_directory(folder_ / "real");
    fs::create_directory_symlink(folder_ / "real", folder_ / "out");
    ASSERT_TRUE(write_directory(out(), kFiles, Existing::refuse).has_value());
    EXPECT_EQ(text("real/a.txt"), "one");
    EXPECT_TRUE(fs::is_symlink(folder_ / "out"));
    fs::create_symlink(folder_ / "nowhere", folder_ / "dangling");
    EXPECT_FALSE(
        write_directory((folder_ / "dangling").string(), kFiles, Existing::refuse).has_value());
    EXPECT_FALSE(fs::exists(folder_ / "nowhere"));
}

TEST_F(DirectoryTest, ReplacingLeavesStrangersAlone) {
    fs::create_directory(folder_ / "out");
    std::ofstream(folder_ / "out/a.txt") << "old";
    std::ofstream(folder_ / "out/mine.txt") << "mine";
    ASSERT_TRUE(write_directory(out(), kFiles, Existing::replace).has_value());
    EXPECT_EQ(text("out/a.txt"), "one");
    EXPECT_EQ(text("out/mine.txt"), "mine");
}

TEST_F(DirectoryTest, AFileInTheWayAndAMissingParentAreSaid) {
    std::ofstream(folder_ / "file") << "x";
    for (const char* name : {"file", "file/below", "missing/out"}) {
        const auto refused = write_directory((folder_ / name).string(), kFiles, Existing::refuse);
        ASSERT_FALSE(refused.has_value()) << name;
        EXPECT_EQ(refused.error().kind, ErrorKind::world);
    }
    EXPECT_EQ(entries(), 1U);
}

}  // namespace
}  // namespace trainyard::sys
