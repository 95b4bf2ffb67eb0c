#include "trainyard/base/diagnostic.hpp"

#include <gtest/gtest.h>

#include "trainyard/base/result.hpp"

namespace trainyard {
namespace {

TEST(Diagnostic, PrintsWhatItKnows) {
    const Diagnostic full{.severity = Severity::error,
                          .where = {"job.yaml", 3, 9},
                          .what = "tokens: \"300Q\" is not a count",
                          .why = "Q is no suffix",
                          .fix = "write it like 300B"};
    EXPECT_EQ(format(full),
              "job.yaml:3:9: error: tokens: \"300Q\" is not a count\n"
              "  why: Q is no suffix\n"
              "  fix: write it like 300B\n");
}

TEST(Diagnostic, LeavesOutUnknownPlacesAndEmptyParts) {
    EXPECT_EQ(format(Diagnostic{.severity = Severity::warning,
                                .where = {},
                                .what = "old prices",
                                .why = {},
                                .fix = {}}),
              "warning: old prices\n");
    EXPECT_EQ(format(Diagnostic{.severity = Severity::note,
                                .where = {"a.csv", 7, 0},
                                .what = "x",
                                .why = {},
                                .fix = {}}),
              "a.csv:7: note: x\n");
    EXPECT_EQ(format(Diagnostic{.where = {"", 7, 2}, .what = "x", .why = {}, .fix = {}}),
              "line 7:2: error: x\n");
}

TEST(Diagnostic, ListsKeepTheirOrder) {
    const std::vector<Diagnostic> two = {{.where = {}, .what = "first", .why = {}, .fix = {}},
                                         {.where = {}, .what = "second", .why = {}, .fix = {}}};
    EXPECT_EQ(format(two), "error: first\nerror: second\n");
}

// docs/reference/exit-codes.md
TEST(Result, ErrorKindsAreTheExitCodes) {
    EXPECT_EQ(static_cast<int>(ErrorKind::answered_no), 1);
    EXPECT_EQ(static_cast<int>(ErrorKind::usage), 2);
    EXPECT_EQ(static_cast<int>(ErrorKind::bad_input), 3);
    EXPECT_EQ(static_cast<int>(ErrorKind::world), 4);
    EXPECT_EQ(static_cast<int>(ErrorKind::bug), 70);
}

TEST(Result, HoldsAValueOrAnError) {
    const Result<int> good = 7;
    const Result<int> bad = bad_input(Diagnostic{.where = {}, .what = "no", .why = {}, .fix = {}});
    EXPECT_EQ(good.value(), 7);
    ASSERT_FALSE(bad.has_value());
    EXPECT_EQ(bad.error().kind, ErrorKind::bad_input);
    EXPECT_EQ(bad.error().diagnostics.front().what, "no");
}

}  // namespace
}  // namespace trainyard
