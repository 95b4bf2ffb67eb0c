#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>

#include "trainyard/sys/environment.hpp"

namespace trainyard::sys {
namespace {

namespace fs = std::filesystem;

/// A folder of its own for each test.
class FileTest : public testing::Test {
  protected:
    FileTest() {
        std::string pattern = (fs::temp_directory_path() / "trainyard_test.XXXXXX").string();
        folder_ = mkdtemp(pattern.data());
    }
    ~FileTest() override { fs::remove_all(folder_); }

    std::string path(const std::string& name) const { return (folder_ / name).string(); }
    void put(const std::string& name, const std::string& text) const {
        std::ofstream(path(name), std::ios::binary) << text;
    }
    std::size_t entries() const {
        return static_cast<std::size_t>(
            std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
    }

    fs::path folder_;
};

template <typename T>
std::string what(const Result<T>& result) {
    return result ? "ok" : result.error().diagnostics.front().what;
}

TEST_F(FileTest, ReadsAllBytes) {
    const std::string text("a\0b\r\n\xFF", 6);
    put("x", text);
    EXPECT_EQ(read_file(path("x")).value(), text);
    put("empty", "");
    EXPECT_EQ(read_file(path("empty")).value(), "");
}

TEST_F(FileTest, RefusesMoreThanTheLimit) {
    put("x", std::string(100, 'a'));
    EXPECT_TRUE(read_file(path("x"), 100).has_value());
    const Result<std::string> result = read_file(path("x"), 99);
    ASSERT_FALSE(result.has_value());
    EXPECT_EQ(result.error().kind, ErrorKind::bad_input);
}

TEST_F(FileTest, AMissingFileIsTheWorldsFault) {
    const Result<std::string> result = read_file(path("absent"));
    ASSERT_FALSE(result.has_value());
    EXPECT_EQ(result.error().kind, ErrorKind::world);
    EXPECT_EQ(what(result), "the file does not exist");
    EXPECT_EQ(result.error().diagnostics.front().where.file, path("absent"));
    put("x", "");
    EXPECT_EQ(what(read_file(path("x/y"))), "the file does not exist");
}

TEST_F(FileTest, RefusesDirectoriesPipesAndDevices) {
    EXPECT_EQ(what(read_file(folder_.string())), "this is a directory, not a file");
    ASSERT_EQ(mkfifo(path("pipe").c_str(), 0600), 0);
    EXPECT_EQ(what(read_file(path("pipe"))), "this is a pipe, not a file");  // and does not hang
    EXPECT_EQ(what(read_file("/dev/zero")), "this is a device, not a file");
}

TEST_F(FileTest, WritesWholeFilesAndLeavesNothingElse) {
    EXPECT_EQ(write_file(path("x"), "one").value(), 3U);
    EXPECT_EQ(write_file(path("x"), "three").value(), 5U);
    EXPECT_EQ(read_file(path("x")).value(), "three");
    EXPECT_EQ(entries(), 1U);
}

TEST_F(FileTest, KeepsThePermissionsOfAnExistingFile) {
    put("x", "");
    ASSERT_EQ(chmod(path("x").c_str(), 0640), 0);
    ASSERT_TRUE(write_file(path("x"), "new").has_value());
    struct stat status{};
    ASSERT_EQ(stat(path("x").c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 07777U, 0640U);
}

TEST_F(FileTest, AFailedWriteLeavesTheOldFile) {
    EXPECT_EQ(what(write_file(path("absent/x"), "a")), "the file cannot be written");
    // A directory cannot be replaced by a file.
    fs::create_directory(path("d"));
    put("d/keep", "old");
    EXPECT_EQ(write_file(path("d"), "a").error().kind, ErrorKind::world);
    EXPECT_EQ(read_file(path("d/keep")).value(), "old");
    EXPECT_EQ(entries(), 1U);
}

TEST_F(FileTest, WritesTheTargetOfALink) {
    put("old", "old");
    ASSERT_EQ(symlink("old", path("link").c_str()), 0);
    ASSERT_EQ(symlink("link", path("chain").c_str()), 0);
    ASSERT_TRUE(write_file(path("chain"), "new").has_value());
    EXPECT_TRUE(fs::is_symlink(path("chain")) && fs::is_symlink(path("link")));
    EXPECT_EQ(read_file(path("old")).value(), "new");
    ASSERT_EQ(symlink("fresh", path("dangling").c_str()), 0);
    ASSERT_TRUE(write_file(path("dangling"), "first").has_value());
    EXPECT_EQ(read_file(path("fresh")).value(), "first");
    ASSERT_EQ(symlink("loop", path("loop").c_str()), 0);
    EXPECT_EQ(write_file(path("loop"), "a").error().kind, ErrorKind::world);
    EXPECT_TRUE(fs::is_symlink(path("loop")));
    EXPECT_EQ(entries(), 6U);
}

TEST_F(FileTest, WritesThroughAPipe) {
    ASSERT_EQ(mkfifo(path("pipe").c_str(), 0600), 0);
    // Open for reading and writing: neither side waits for the other.
    const int fd = open(path("pipe").c_str(), O_RDWR | O_CLOEXEC);
    ASSERT_GE(fd, 0);
    EXPECT_EQ(write_file(path("pipe"), "bytes").value(), 5U);
    std::array<char, 16> got{};
    EXPECT_EQ(read(fd, got.data(), got.size()), 5);
    EXPECT_STREQ(got.data(), "bytes");
    close(fd);
    EXPECT_TRUE(fs::is_fifo(path("pipe")));
    EXPECT_EQ(entries(), 1U);
}

TEST_F(FileTest, ADashIsNoFile) {
    EXPECT_EQ(write_file("-", "a").error().kind, ErrorKind::usage);
    EXPECT_FALSE(fs::exists("-"));
}

TEST_F(FileTest, KnowsOneFileByTwoNames) {
    put("x", "a");
    put("y", "a");
    ASSERT_EQ(link(path("x").c_str(), path("hard").c_str()), 0);
    ASSERT_EQ(symlink("x", path("soft").c_str()), 0);
    EXPECT_TRUE(is_same_file(path("x"), path("hard")));
    EXPECT_TRUE(is_same_file(path("soft"), path("x")));
    EXPECT_FALSE(is_same_file(path("x"), path("y")));
    EXPECT_FALSE(is_same_file(path("absent"), path("absent")));
}

TEST_F(FileTest, ListsRegularFilesBySuffixInOrder) {
    put("b.csv", "");
    put("a.csv", "");
    put("c.txt", "");
    fs::create_directory(path("d.csv"));
    EXPECT_EQ(list_files(folder_.string(), ".csv").value(),
              (std::vector<std::string>{path("a.csv"), path("b.csv")}));
    EXPECT_EQ(what(list_files(path("absent"), ".csv")), "the directory cannot be read");
}

}  // namespace
}  // namespace trainyard::sys
