#include <gtest/gtest.h>

#include <set>
#include <sstream>

#include "command.hpp"
#include "table.hpp"

namespace trainyard::cli {
namespace {

struct Ran {
    int code;
    std::string out;
    std::string err;
};

Ran ran(const std::vector<std::string>& words) {
    std::ostringstream out;
    std::ostringstream err;
    Io io{.out = out, .err = err, .today = "2026-12-01"};
    const int code = run(words, io);
    return {code, out.str(), err.str()};
}

TEST(Run, NothingAskedIsUsage) {
    const Ran result = ran({});
    EXPECT_EQ(result.code, 2);
    EXPECT_EQ(result.out, "");
    EXPECT_NE(result.err.find("Usage: trainyard <command>"), std::string::npos);
}

TEST(Run, HelpGoesToStdout) {
    for (const std::vector<std::string>& words : {std::vector<std::string>{"--help"},
                                                  {"-h"},
                                                  {"help"},
                                                  {"help", "completion"},
                                                  {"completion", "--help"}}) {
        const Ran result = ran(words);
        EXPECT_EQ(result.code, 0);
        EXPECT_NE(result.out.find("Usage: trainyard"), std::string::npos);
        EXPECT_EQ(result.err, "");
    }
}

TEST(Run, UnknownCommandsSuggestTheNearest) {
    const Ran result = ran({"compltion"});
    EXPECT_EQ(result.code, 2);
    EXPECT_EQ(
        result.err,
        "trainyard: error: unknown command \"compltion\"\n  fix: did you mean \"completion\"?\n");
    EXPECT_EQ(
        ran({"--vresion"}).err,
        "trainyard: error: unknown option \"--vresion\"\n  fix: did you mean \"--version\"?\n");
}

TEST(Run, PlanSaysWhatANearWordCouldMean) {
    const auto plan = [](std::vector<std::string> more) {
        std::vector<std::string> words = {"plan", "llama-3.1-8b", "--tokens", "1B"};
        words.insert(words.end(), more.begin(), more.end());
        return ran(words);
    };
    const Ran device = plan({"--instance", "H100"});
    EXPECT_EQ(device.code, 3);
    EXPECT_NE(device.err.find("p5.48xlarge"), std::string::npos);
    EXPECT_NE(device.err.find("p5.4xlarge"), std::string::npos);
    EXPECT_EQ(plan({"--instance", "p5"}).err.find("p5e.48xlarge"), std::string::npos);
    const Ran region = plan({"--regions", "europe"});
    EXPECT_EQ(region.code, 3);
    EXPECT_NE(region.err.find("eu-west-1"), std::string::npos);
    EXPECT_EQ(region.err.find("us-east-1"), std::string::npos);
    const Ran stack = plan({"--stack", "pytorch-fdsp"});
    EXPECT_EQ(stack.code, 3);
    EXPECT_NE(stack.err.find("did you mean \"pytorch-fsdp\"?"), std::string::npos);
}

TEST(Run, PlanKnowsHubNamesButNotMissingFiles) {
    EXPECT_EQ(ran({"plan", "Qwen/Qwen2.5-7B", "--tokens", "0"}).err.find("does not exist"),
              std::string::npos);
    EXPECT_NE(ran({"plan", "nobody/nothing", "--tokens", "1B"}).err.find("does not exist"),
              std::string::npos);
    EXPECT_NE(ran({"plan", "gpt2", "--epochs", "3"}).err.find("--epochs"), std::string::npos);
}

TEST(Run, DecodeAnswersGoodNamesBesideABadOne) {
    const Ran result = ran({"decode", "p5.48xlarge", "???"});
    EXPECT_EQ(result.code, 3);
    EXPECT_EQ(result.out, ran({"decode", "p5.48xlarge"}).out);
    EXPECT_NE(result.err.find("???"), std::string::npos);
}

TEST(Run, CompletionKnowsEveryVisibleCommandAndOption) {
    for (const char* shell : {"bash", "zsh", "fish"}) {
        const std::string script = ran({"completion", shell}).out;
        for (const Command& command : commands()) {
            if (command.is_hidden) {
                continue;
            }
            EXPECT_NE(script.find(command.name), std::string::npos) << command.name;
            for (const Option& option : command.options) {
                EXPECT_NE(script.find(option.name), std::string::npos) << option.name;
            }
        }
    }
}

// The table is data: a slip in it would only show when a user meets it.
TEST(Registry, EveryCommandIsWhole) {
    std::set<std::string> names;
    for (const Command& command : commands()) {
        EXPECT_TRUE(names.insert(command.name).second) << command.name;
        EXPECT_TRUE(command.run) << command.name;
        EXPECT_FALSE(command.summary.empty() || command.summary.ends_with('.')) << command.name;
        EXPECT_TRUE(command.is_hidden || !command.examples.empty()) << command.name;
        std::set<std::string> words = {"help"};
        for (const Option& option : command.options) {
            EXPECT_TRUE(words.insert(option.name).second) << command.name << " " << option.name;
            EXPECT_FALSE(option.help.empty()) << command.name << " " << option.name;
            EXPECT_FALSE(option.name.starts_with('-')) << command.name << " " << option.name;
        }
        for (const Positional& positional : command.positionals) {
            EXPECT_TRUE(words.insert(positional.name).second) << command.name;
            EXPECT_LE(positional.min, positional.max) << command.name;
        }
    }
}

TEST(Io, ColoursOnlyWhereAllowed) {
    std::ostringstream out;
    std::ostringstream err;
    Io io{.out = out, .err = err, .today = {}};
    EXPECT_EQ(io.paint(Tone::bad, "x"), "x");
    io.color_out = true;
    io.color_err = true;
    EXPECT_EQ(io.paint(Tone::bad, "x"), "\033[31mx\033[0m");
    io.report(
        {{.severity = Severity::warning, .where = {"a", 1, 2}, .what = "w", .why = {}, .fix = {}}});
    EXPECT_EQ(err.str(), "a:1:2: \033[33mwarning:\033[0m w\n");
}

TEST(Table, AlignsByWhatTheTerminalShows) {
    Table table({{"name"}, {"cost", Align::right}, {"note"}});
    table.add({"größe", "$1", ""});
    table.add({"\033[1mb\033[0m", "$123", "x"});
    EXPECT_EQ(table.text(),
              "name   cost  note\n"
              "größe    $1\n"
              "\033[1mb\033[0m      $123  x\n");
}

}  // namespace
}  // namespace trainyard::cli
