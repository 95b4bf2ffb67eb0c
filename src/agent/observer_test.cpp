#include "trainyard/agent/observer.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace trainyard::agent {
namespace {

using Phase = Machine::Phase;

class Bench {
  public:
    explicit Bench(ObserverSettings settings = {}) : observer(settings, {}) {}
    void step(std::int64_t step, Seconds after, double loss = 1.0) {
        time += after;
        LogProgress p;
        p.step = step;
        p.loss = loss;
        observer.line(p, time, events);
        observer.lines_end(time);
    }
    void pass(Seconds t, Phase phase = Phase::running) {
        time += t;
        observer.tick(phase, 10 * kSecond, time, events);
    }
    template <typename T>
    const T* last() const {
        for (auto at = events.rbegin(); at != events.rend(); ++at) {
            if (const T* found = std::get_if<T>(&*at)) return found;
        }
        return nullptr;
    }
    double of(Seconds TimeSpent::* part) const { return observer.ledger().spent().*part / kSecond; }

    Observer observer;
    Instant time = 100 * kSecond;
    std::vector<Event> events;
};

TEST(Observer, TimeIsUsefulOnceACheckpointHoldsIt) {
    Bench b;
    b.observer.attempt_begins(b.time, -1);
    b.step(0, 30 * kSecond);  // 30 s of start
    for (int i = 1; i <= 10; ++i) b.step(i, 2 * kSecond);
    b.observer.saved(7, b.time);  // steps 8 to 10 are not in it
    EXPECT_DOUBLE_EQ(b.of(&TimeSpent::starting), 30);
    EXPECT_DOUBLE_EQ(b.of(&TimeSpent::useful), 14);
    EXPECT_DOUBLE_EQ(b.of(&TimeSpent::open), 6);
    b.observer.attempt_ends(b.time, false);
    b.pass(5 * kSecond, Phase::waiting);
    b.observer.attempt_begins(b.time, 7);
    EXPECT_DOUBLE_EQ(b.of(&TimeSpent::lost), 6);
    EXPECT_DOUBLE_EQ(b.of(&TimeSpent::open), 0);
    EXPECT_DOUBLE_EQ(b.of(&TimeSpent::waiting), 5);
    b.step(8, 10 * kSecond);
    b.step(9, 2 * kSecond);
    b.observer.attempt_ends(b.time, true);
    EXPECT_DOUBLE_EQ(b.of(&TimeSpent::useful), 16);
    // 30 + 10 start, 16 useful, 6 lost, 5 waiting.
    EXPECT_DOUBLE_EQ(*b.observer.ledger().spent().goodput(), 16.0 / 67.0);
}

TEST(Observer, AHangIsManyStepTimes) {
    Bench b;
    b.observer.attempt_begins(b.time, -1);
    for (int i = 0; i < 10; ++i) b.step(i, 60 * kSecond);
    EXPECT_EQ(*b.observer.hang_limit(), 20 * kMinute);
    b.pass(19 * kMinute);
    EXPECT_EQ(b.last<event::Hang>(), nullptr);
    b.observer.alive(b.time);  // it writes a checkpoint
    b.pass(19 * kMinute);
    EXPECT_EQ(b.last<event::Hang>(), nullptr);
    b.pass(2 * kMinute);
    ASSERT_NE(b.last<event::Hang>(), nullptr);
    EXPECT_EQ(b.last<event::Hang>()->evidence,
              "no progress for 21 min, a step usually takes 1.0 min");
    b.events.clear();
    b.pass(kHour);
    EXPECT_EQ(b.last<event::Hang>(), nullptr);  // told once an attempt
}

TEST(Observer, StepsThatAreReadAtOnceAreTimedTogether) {
    Bench b;
    b.observer.attempt_begins(b.time, -1);
    for (int reading = 0; reading < 5; ++reading) {
        b.time += kSecond;
        for (int i = 0; i < 10; ++i) {
            LogProgress p;
            p.step = reading * 10 + i;
            b.observer.line(p, b.time, b.events);
        }
        b.observer.lines_end(b.time);
    }
    EXPECT_DOUBLE_EQ(*b.observer.step_time() / kSecond, 0.1);
}

TEST(Observer, TheSameStepAgainIsNoProgress) {
    Bench b({.hang_after = 60 * kSecond});
    b.observer.attempt_begins(b.time, -1);
    b.step(1, kSecond);
    for (int i = 0; i < 7; ++i) {
        b.step(1, 10 * kSecond);
        b.pass(0 * kSecond);
    }
    EXPECT_NE(b.last<event::Hang>(), nullptr);
}

TEST(Observer, ShortStepsHaveALeastLimitAndTheStartItsOwn) {
    Bench b;
    b.observer.attempt_begins(b.time, -1);
    EXPECT_EQ(*b.observer.hang_limit(), kHour);
    for (int i = 0; i < 10; ++i) b.step(i, kSecond / 10.0);
    EXPECT_EQ(*b.observer.hang_limit(), kHangAtLeast);
}

TEST(Observer, ALossThatIsNoNumberIsToldOnce) {
    Bench b({.stops_on_bad_loss = true});
    b.observer.attempt_begins(b.time, -1);
    b.step(5, kSecond, std::nan(""));
    ASSERT_NE(b.last<event::Wind>(), nullptr);
    EXPECT_EQ(b.last<event::Wind>()->why, Drain::bad_loss);
    EXPECT_EQ(b.last<event::Remark>()->text, "the loss is nan at step 5");
    b.events.clear();
    b.step(6, kSecond, INFINITY);
    EXPECT_EQ(b.last<event::Remark>(), nullptr);
}

TEST(Observer, TheBudgetKeepsWhatTheEndNeeds) {
    // $36 an hour: a cent a second. $10 last 1000 s.
    Bench b({.price = 36 * kUsdPerHour, .budget = 10 * kUsd});
    b.observer.attempt_begins(b.time, -1);
    b.step(0, 499 * kSecond);
    b.pass(0 * kSecond);
    EXPECT_EQ(b.last<event::Remark>(), nullptr);
    b.step(1, 2 * kSecond);
    b.pass(0 * kSecond);
    EXPECT_EQ(b.last<event::Remark>()->text, "$5.01 of $10.00 spent (50 %)");
    b.step(2, 300 * kSecond);
    b.pass(0 * kSecond);
    EXPECT_EQ(b.last<event::Remark>()->text, "$8.01 of $10.00 spent (80 %)");
    b.pass(188 * kSecond);
    EXPECT_EQ(b.last<event::Wind>(), nullptr);
    b.pass(2 * kSecond);  // 991 s: the last 10 s are for the end
    ASSERT_NE(b.last<event::Wind>(), nullptr);
    EXPECT_EQ(b.last<event::Wind>()->why, Drain::budget);
}

TEST(Observer, ARunThatOnlyRepeatsItselfIsIdle) {
    Bench b({.watches_hangs = false, .idle_after = 10 * kMinute});
    b.observer.attempt_begins(b.time, -1);
    b.step(5, kMinute);
    for (int i = 0; i < 3; ++i) {
        b.observer.attempt_ends(b.time, false);
        b.observer.attempt_begins(b.time, -1);
        b.step(4, 3 * kMinute);  // never beyond what was reached
        b.pass(0 * kSecond);
    }
    EXPECT_EQ(b.last<event::Wind>(), nullptr);
    b.pass(kMinute);
    ASSERT_NE(b.last<event::Wind>(), nullptr);
    EXPECT_EQ(b.last<event::Wind>()->why, Drain::idle);
}

}  // namespace
}  // namespace trainyard::agent
