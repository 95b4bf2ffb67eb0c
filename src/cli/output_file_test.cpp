#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "command.hpp"

namespace trainyard::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kSamples =
    R"({"metadata": {"gap_seconds": 600}, "data": [1, 0, 1, 1, 0, 1, 0, 1, 1, 1, 0, 1, 0, 1, 0]})";

/// A folder of its own for each test, with a trace in it.
class OutputFile : public testing::Test {
  protected:
    OutputFile() {
        std::string pattern = (fs::temp_directory_path() / "trainyard_test.XXXXXX").string();
        folder_ = mkdtemp(pattern.data());
        put("t.json", kSamples);
    }
    ~OutputFile() override { fs::remove_all(folder_); }

    std::string path(const std::string& name) const { return (folder_ / name).string(); }
    void put(const std::string& name, const std::string& text) const {
        std::ofstream(path(name), std::ios::binary) << text;
    }
    std::string got(const std::string& name) const {
        std::ostringstream out;
        out << std::ifstream(path(name)).rdbuf();
        return out.str();
    }
    int ran(const std::vector<std::string>& words) {
        std::ostringstream out;
        std::ostringstream err;
        Io io{.out = out, .err = err, .today = "2026-12-01"};
        const int code = run(words, io);
        said = err.str();
        return code;
    }

    fs::path folder_;
    std::string said;
};

TEST_F(OutputFile, FitWritesItsProcesses) {
    EXPECT_EQ(ran({"trace", "fit", path("t.json"), "--out", path("p.csv")}), 0) << said;
    EXPECT_NE(got("p.csv").find("up_shape"), std::string::npos);
}

TEST_F(OutputFile, AFailedCommandLeavesTheOldOne) {
    put("p.csv", "old");
    put("short.json", R"({"gap_seconds": 600, "data": [1, 0, 1]})");
    put("broken.json", "{");
    EXPECT_EQ(ran({"trace", "fit", path("short.json"), "--out", path("p.csv")}), 3);
    EXPECT_EQ(got("p.csv"), "old");
    for (const char* action : {"fit", "convert", "stats"}) {
        EXPECT_EQ(
            ran({"trace", action, path("t.json"), path("broken.json"), "--out", path("p.csv")}), 3);
        EXPECT_NE(said.find("not written"), std::string::npos) << said;
        EXPECT_EQ(got("p.csv"), "old") << action;
    }
}

TEST_F(OutputFile, AnInputIsNotReplaced) {
    ASSERT_EQ(link(path("t.json").c_str(), path("hard.json").c_str()), 0);
    fs::create_symlink("t.json", path("soft"));
    for (const char* name : {"t.json", "hard.json", "soft"}) {
        EXPECT_EQ(ran({"trace", "convert", path("t.json"), "--out", path(name)}), 2) << name;
        EXPECT_EQ(ran({"trace", "fit", folder_.string(), "--out", path(name)}), 2) << name;
        EXPECT_EQ(ran({"simulate", path("t.json"), "--html", path(name)}), 2) << name;
        EXPECT_EQ(
            ran({"simulate", "llama-3-8b", "--trace", folder_.string(), "--html", path(name)}), 2);
        EXPECT_NE(said.find("is an input of the same command"), std::string::npos) << said;
    }
    EXPECT_EQ(got("t.json"), kSamples);
}

TEST_F(OutputFile, ADashIsRefused) {
    EXPECT_EQ(ran({"trace", "convert", path("t.json"), "--out", "-"}), 2);
    EXPECT_FALSE(fs::exists("-"));
}

}  // namespace
}  // namespace trainyard::cli
