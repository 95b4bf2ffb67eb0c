#include <gtest/gtest.h>

#include "command.hpp"

namespace trainyard::cli {
namespace {

Command sample() {
    return {.name = "sample",
            .summary = "For tests",
            .description = {},
            .examples = {{"trainyard sample x --tokens 300B", "An example"}},
            .options =
                {{.name = "json", .kind = Option::Kind::flag, .help = "as JSON"},
                 {.name = "tokens", .value_name = "N", .help = "how many"},
                 {.name = "level", .help = "which", .fallback = "low", .choices = {"low", "high"}},
                 {.name = "why-not",
                  .kind = Option::Kind::list,
                  .value_name = "NAME",
                  .help = "reasons"}},
            .positionals = {{.name = "model", .help = "the model"},
                            {.name = "rest", .help = "more", .min = 0, .max = kAnyNumber}},
            .run = {},
            .is_hidden = false};
}

Args parsed(const std::vector<std::string>& words) {
    const Result<Args> args = parse(sample(), words);
    EXPECT_TRUE(args.has_value()) << (args ? "" : format(args.error().diagnostics));
    return args.value_or(Args());
}

/// "what | fix"
std::string refused(const std::vector<std::string>& words) {
    const Result<Args> args = parse(sample(), words);
    if (args) {
        return "accepted";
    }
    EXPECT_EQ(args.error().kind, ErrorKind::usage);
    const Diagnostic& d = args.error().diagnostics.front();
    EXPECT_EQ(d.where.file, "trainyard sample");
    return d.what + " | " + d.fix;
}

TEST(Parse, ReadsOptionsAndPositionalsInAnyOrder) {
    const Args args = parsed(
        {"--json", "llama", "--tokens=300B", "a", "--why-not", "p4d,p5", "--why-not", "p6", "b"});
    EXPECT_TRUE(args.flag("json"));
    EXPECT_EQ(args.text("tokens"), "300B");
    EXPECT_EQ(args.list("why-not"), (std::vector<std::string>{"p4d", "p5", "p6"}));
    EXPECT_EQ(args.text("model"), "llama");
    EXPECT_EQ(args.list("rest"), (std::vector<std::string>{"a", "b"}));
}

TEST(Parse, AbsentOptionsFallBack) {
    const Args args = parsed({"llama"});
    EXPECT_FALSE(args.flag("json"));
    EXPECT_EQ(args.optional("tokens"), std::nullopt);
    EXPECT_EQ(args.text("tokens"), "");
    EXPECT_EQ(args.text("level"), "low");
    EXPECT_FALSE(args.given("level"));
    EXPECT_TRUE(args.list("rest").empty());
}

TEST(Parse, DashesAloneAreData) {
    EXPECT_EQ(parsed({"-"}).text("model"), "-");
    EXPECT_EQ(parsed({"--json", "--", "--tokens"}).text("model"), "--tokens");
}

TEST(Parse, UnknownOptionsSuggestTheNearest) {
    EXPECT_EQ(refused({"x", "--tokns", "5"}), "unknown option --tokns | did you mean --tokens?");
    EXPECT_EQ(refused({"x", "--tokns=5"}), "unknown option --tokns | did you mean --tokens?");
    EXPECT_EQ(refused({"x", "--frobnicate"}),
              "unknown option --frobnicate | see trainyard sample --help");
    EXPECT_EQ(refused({"x", "-z"}), "unknown option -z | see trainyard sample --help");
}

TEST(Parse, RefusesBrokenCommandLines) {
    const std::string help = " | see trainyard sample --help";
    EXPECT_EQ(refused({}),
              "<model> is missing | usage: trainyard sample <model> [<rest>…] [OPTION]…");
    EXPECT_EQ(refused({"x", "--tokens"}), "--tokens needs a value" + help);
    EXPECT_EQ(refused({"x", "--tokens", ""}), "--tokens has an empty value" + help);
    EXPECT_EQ(refused({"x", "--tokens", "1", "--tokens", "2"}),
              "--tokens is given 2 times | give it once");
    EXPECT_EQ(refused({"x", "--level", "hihg"}),
              "--level: \"hihg\" is not one of low, high | did you mean \"high\"?");
    EXPECT_NE(refused({"x", "--json=maybe"}), "accepted");
}

TEST(Args, TypedReadersSayWhatIsWrong) {
    const Args args = parsed({"x", "--tokens", "300Q"});
    Args::Mistakes mistakes;
    EXPECT_EQ(args.count("tokens", mistakes), std::nullopt);
    EXPECT_EQ(args.duration("tokens", mistakes), std::nullopt);
    EXPECT_EQ(args.usd("tokens", mistakes), std::nullopt);
    EXPECT_EQ(args.bytes("tokens", mistakes), std::nullopt);
    EXPECT_EQ(args.number("tokens", mistakes), std::nullopt);
    EXPECT_EQ(args.integer("tokens", 1, 8, mistakes), std::nullopt);
    ASSERT_EQ(mistakes.size(), 6U);
    EXPECT_EQ(
        format(mistakes[0]),
        "--tokens: error: \"300Q\" is not a count\n  fix: write it like 300B, 1.5T or 2048\n");
}

TEST(Args, TypedReadersReadValues) {
    Args::Mistakes mistakes;
    EXPECT_EQ(parsed({"x", "--tokens", "300B"}).count("tokens", mistakes), 300e9);
    EXPECT_EQ(parsed({"x", "--tokens", "8"}).integer("tokens", 1, 8, mistakes), 8);
    EXPECT_EQ(parsed({"x", "--tokens", "30d"}).duration("tokens", mistakes), 30 * kDay);
    EXPECT_EQ(parsed({"x"}).count("tokens", mistakes), std::nullopt);
    EXPECT_TRUE(mistakes.empty());
    parsed({"x", "--tokens", "9"}).integer("tokens", 1, 8, mistakes);
    EXPECT_EQ(mistakes.front().what, "\"9\" is not a whole number between 1 and 8");
}

TEST(Help, ShowsExamplesBeforeOptions) {
    const std::string help = help_text(sample());
    EXPECT_LT(help.find("Examples:"), help.find("Usage:"));
    EXPECT_LT(help.find("Usage:"), help.find("Options:"));
    EXPECT_NE(help.find("--level VALUE   which: low, high (default low)"), std::string::npos)
        << help;
    EXPECT_NE(help.find("--why-not NAME  reasons (repeatable)"), std::string::npos) << help;
}

}  // namespace
}  // namespace trainyard::cli
