#include "trainyard/sys/child.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

namespace trainyard::sys {
namespace {

constexpr std::int64_t kSecondNs = 1'000'000'000;

ProcessId shell(const std::string& script, std::vector<std::string> environment = {}) {
    auto child = start_child({.command = {"sh", "-c", script},
                              .environment = std::move(environment),
                              .output = {},
                              .own_session = false});
    EXPECT_TRUE(child.has_value());
    return child.value_or(ProcessId{});
}

TEST(Child, TellsHowItEnded) {
    EXPECT_EQ(wait_for_child(shell("exit 7").pid), (ChildEnd{.code = 7, .signal = 0}));
    EXPECT_EQ(wait_for_child(shell("kill -9 $$").pid), (ChildEnd{.code = 0, .signal = 9}));
    EXPECT_EQ(wait_for_child(getpid()), std::nullopt);  // not our child
}

TEST(Child, AProgramThatIsNotThereIsAnError) {
    const auto child = start_child(
        {.command = {"no-such-program-x"}, .environment = {}, .output = {}, .own_session = false});
    ASSERT_FALSE(child.has_value());
    EXPECT_EQ(child.error().code, ENOENT);
}

TEST(Child, TheEnvironmentIsChangedAndMarksIt) {
    const ProcessId child =
        shell("test \"$MARK_X\" = a && test -z \"$HOME\" && exec sleep 30", {"MARK_X=a", "HOME"});
    std::vector<std::int64_t> marked;
    for (int i = 0; i < 100 && marked.empty(); ++i) {
        marked = processes_marked("MARK_X=a");
        real_env().sleep_ns(kSecondNs / 100);
    }
    EXPECT_EQ(marked, std::vector<std::int64_t>{child.pid});
    EXPECT_TRUE(processes_marked("MARK_X=").empty());  // the whole value, not a part of it
    EXPECT_TRUE(real_env().may_be_alive(child));
    signal_group(child.pid, SIGKILL);
    EXPECT_EQ(wait_for_child(child.pid)->signal, SIGKILL);
    EXPECT_FALSE(real_env().may_be_alive(child));
}

TEST(Child, SignalsHaveTheirDefaultMeaningInIt) {
    std::signal(SIGPIPE, SIG_IGN);
    const SignalQueue queue({SIGUSR1});
    const ProcessId child = shell("kill -USR1 $$; sleep 30");
    EXPECT_EQ(wait_for_child(child.pid)->signal, SIGUSR1);  // neither blocked nor ignored
}

TEST(Child, WhoCatchesASignalIsTold) {
    EXPECT_FALSE(catches_signal(getpid(), SIGWINCH));
    std::signal(SIGWINCH, [](int) {});
    EXPECT_TRUE(catches_signal(getpid(), SIGWINCH));
    std::signal(SIGWINCH, SIG_DFL);
    EXPECT_FALSE(catches_signal(-1, SIGWINCH));
}

TEST(Child, TheQueueKeepsSignals) {
    SignalQueue queue({SIGUSR1, SIGUSR2});
    ::kill(getpid(), SIGUSR2);
    wait_readable({queue.descriptor()}, kSecondNs);
    EXPECT_EQ(queue.take(), std::vector<int>{SIGUSR2});
    EXPECT_TRUE(queue.take().empty());
}

TEST(Child, TheEndWakesAWait) {
    const ProcessId child = shell("sleep 0.05");
    const Descriptor watch = watch_process(child.pid);
    const std::int64_t begun = real_env().steady_ns();
    wait_readable({watch.get(), -1}, 20 * kSecondNs);
    EXPECT_LT(real_env().steady_ns() - begun, 10 * kSecondNs);
    EXPECT_TRUE(poll_child(child.pid).has_value());
}

TEST(Child, WhatACommandLeavesBehindIsEnded) {
    // In a process of its own: it becomes the parent of all orphans.
    const pid_t keeper = ::fork();
    if (keeper == 0) {
        adopt_orphans();
        const ProcessId child = shell("trap '' TERM; (trap '' TERM; setsid sleep 300) & exit 0");
        (void)wait_for_child(child.pid);
        const int ended = end_descendants(real_env(), kSecondNs / 5);
        _exit(ended >= 1 ? 0 : 1);
    }
    EXPECT_EQ(wait_for_child(keeper), ChildEnd{});
}

TEST(Child, OneWhoseEndNobodyReadsIsNotAlive) {
    const ProcessId child = shell("exit 0");
    const Descriptor watch = watch_process(child.pid);
    wait_readable({watch.get()}, 10 * kSecondNs);
    EXPECT_FALSE(real_env().may_be_alive(child));
    EXPECT_TRUE(wait_for_child(child.pid).has_value());
}

TEST(Child, EndedMeansGone) {
    const ProcessId one = shell("trap '' TERM; sleep 300");
    const ProcessId other = shell("sleep 300");
    EXPECT_EQ(end_processes(real_env(), {one, other, ProcessId{}}, 10 * kSecondNs), 0U);
    EXPECT_FALSE(real_env().may_be_alive(one));
    EXPECT_EQ(wait_for_child(one.pid)->signal, SIGKILL);
    EXPECT_EQ(wait_for_child(other.pid)->signal, SIGKILL);
}

TEST(Child, ALockIsHeldOnce) {
    const std::string path = testing::TempDir() + "trainyard-lock-" + std::to_string(getpid());
    auto first = lock_file(path);
    ASSERT_TRUE(first.has_value() && first->has_value());
    const auto second = lock_file(path);
    ASSERT_TRUE(second.has_value());
    EXPECT_FALSE(second->has_value());
    *first = std::nullopt;
    const auto third = lock_file(path);
    EXPECT_TRUE(third.has_value() && third->has_value());
    ::unlink(path.c_str());
}

}  // namespace
}  // namespace trainyard::sys
