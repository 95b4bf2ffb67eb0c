#include "trainyard/agent/record.hpp"

#include <gtest/gtest.h>

#include "trainyard/agent/observer.hpp"

namespace trainyard::agent {
namespace {

TEST(StepSpans, AreAtLeastFiveSecondsLongAndLeaveOutTheStart) {
    StepSpans spans;
    spans.begin();
    for (int i = 0; i <= 30; ++i) spans.told(i, (100 + 0.5 * i) * kSecond);
    const auto all = spans.spans();
    ASSERT_EQ(all.size(), 3U);  // 15 s
    EXPECT_EQ(all[0].first, 0);
    EXPECT_EQ(all[0].last, 10);
    EXPECT_DOUBLE_EQ(all[0].time / kSecond, 5);
    EXPECT_EQ(all[2].last, 30);
}

TEST(StepSpans, AnotherStartIsAnotherStretch) {
    StepSpans spans;
    spans.begin();
    spans.told(1, 0 * kSecond);
    spans.told(3, 4 * kSecond);
    spans.begin();
    spans.told(2, 60 * kSecond);  // 56 s of restart are no step's
    spans.told(4, 64 * kSecond);
    spans.told(3, 65 * kSecond);  // done again without a restart that we saw
    spans.told(4, 66.5 * kSecond);
    const auto all = spans.spans();
    ASSERT_EQ(all.size(), 3U);
    EXPECT_DOUBLE_EQ(all[0].time / kSecond, 4);
    EXPECT_DOUBLE_EQ(all[1].time / kSecond, 4);
    EXPECT_DOUBLE_EQ(all[2].time / kSecond, 1.5);
    EXPECT_LT(all[0].stretch, all[1].stretch);
    EXPECT_LT(all[1].stretch, all[2].stretch);
}

TEST(StepSpans, AreJoinedWhenThereAreManyAndLoseNoTime) {
    StepSpans spans;
    spans.begin();
    for (int i = 0; i <= 5000; ++i) spans.told(i, 6.0 * i * kSecond);
    const auto all = spans.spans();
    EXPECT_LE(all.size(), kMostSpans + 1);
    Seconds sum;
    for (const auto& span : all) sum += span.time;
    EXPECT_DOUBLE_EQ(sum / kSecond, 6.0 * static_cast<double>(all.back().last));
    EXPECT_EQ(all.front().first, 0);
}

TEST(Record, TakesUpItsSpansAgainAndNotThoseOfAnotherRun) {
    Observer before({}, {});
    before.attempt_begins(0 * kSecond, -1);
    for (int i = 0; i < 20; ++i) {
        LogProgress p;
        p.step = i;
        std::vector<Event> events;
        before.line(p, 6.0 * i * kSecond, events);
        before.lines_end(6.0 * i * kSecond);
    }
    RecordHead head;
    head.run_id = "a";
    const std::string text = record_text(head, before);
    EXPECT_FALSE(recorded_spans(text, "b"));
    EXPECT_FALSE(recorded_spans("{", "a"));
    const auto spans = recorded_spans(text, "a");
    ASSERT_TRUE(spans);
    StepSpans after;
    after.restore(*spans);
    ASSERT_EQ(after.spans().size(), 19U);
    EXPECT_DOUBLE_EQ(after.spans()[0].time / kSecond, 6);
    after.begin();
    after.told(30, 0 * kSecond);
    after.told(31, 7 * kSecond);
    EXPECT_GT(after.spans().back().stretch, after.spans()[0].stretch);
}

}  // namespace
}  // namespace trainyard::agent
