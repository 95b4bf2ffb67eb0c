#include "trainyard/sys/process.hpp"

#include <gtest/gtest.h>

namespace trainyard::sys {
namespace {

using std::chrono::milliseconds;

TEST(Process, CollectsBothStreamsAndTheStatus) {
    const auto done =
        run_process({"sh", "-c", "echo out; echo err >&2; exit 3"}, milliseconds(5000));
    ASSERT_TRUE(done);
    EXPECT_EQ(done->out, "out\n");
    EXPECT_EQ(done->err, "err\n");
    EXPECT_EQ(done->status, 3);
}

TEST(Process, ArgumentsAreNoShellWords) {
    const auto done = run_process({"printf", "%s", "a b; $(id)"}, milliseconds(5000));
    ASSERT_TRUE(done);
    EXPECT_EQ(done->out, "a b; $(id)");
}

TEST(Process, StandardInputIsEmpty) {
    const auto done = run_process({"cat"}, milliseconds(5000));
    ASSERT_TRUE(done);
    EXPECT_EQ(done->out, "");
}

TEST(Process, MissingProgramIsOneDiagnostic) {
    const auto done = run_process({"no-such-program-here", "secret"}, milliseconds(5000));
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().kind, ErrorKind::world);
    EXPECT_EQ(format(done.error().diagnostics).find("secret"), std::string::npos);
}

TEST(Process, KillsWhatRunsTooLongWithItsChildren) {
    const auto before = std::chrono::steady_clock::now();
    const auto done = run_process({"sh", "-c", "sleep 60 & sleep 60"}, milliseconds(200));
    EXPECT_FALSE(done);
    EXPECT_LT(std::chrono::steady_clock::now() - before, std::chrono::seconds(30));
}

TEST(Process, BoundsTheOutput) {
    EXPECT_FALSE(run_process({"sh", "-c", "yes"}, milliseconds(20'000), 100'000));
}

TEST(Process, SignalIsAStatus) {
    const auto done = run_process({"sh", "-c", "kill -TERM $$"}, milliseconds(5000));
    ASSERT_TRUE(done);
    EXPECT_EQ(done->status, 128 + 15);
}

}  // namespace
}  // namespace trainyard::sys
