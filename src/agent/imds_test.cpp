#include "trainyard/agent/imds.hpp"

#include <gtest/gtest.h>

namespace trainyard::agent {
namespace {

TEST(Imds, TimesInTheFormsThatWereSeen) {
    // date -u -d 2026-12-01T08:22:00Z +%s
    constexpr double kTime = 1796113320;
    for (const char* text :
         {"2026-12-01T08:22:00Z", "2026-12-01T08:22:00.123Z", "2026-12-01T09:22:00+01:00",
          "2026-12-01T03:22:00-0500", " 2026-12-01 08:22:00\n"}) {
        EXPECT_EQ(parse_instant(text), kTime) << text;
    }
    for (const char* text :
         {"", "soon", "2026-12-01", "2026-13-01T08:22:00Z", "2026-02-30T08:22:00Z",
          "2026-12-01T25:22:00Z", "2026-12-01T08:22:00 CET", "2026-12-01T08:22:0xZ"}) {
        EXPECT_EQ(parse_instant(text), std::nullopt) << text;
    }
    EXPECT_EQ(parse_http_date("Tue, 01 Dec 2026 08:22:00 GMT"), kTime);
    EXPECT_EQ(parse_http_date("Tue, 01 Foo 2026 08:22:00 GMT"), std::nullopt);
    EXPECT_EQ(parse_http_date("yesterday"), std::nullopt);
}

TEST(Imds, TheActionIsReadOrNot) {
    const auto whole =
        parse_instance_action(R"({"action":"terminate","time":"2026-12-01T08:22:00Z"})");
    ASSERT_TRUE(whole);
    EXPECT_EQ(whole->action, "terminate");
    EXPECT_TRUE(whole->time);
    const auto without = parse_instance_action(R"({"action":"stop","time":7})");
    ASSERT_TRUE(without);
    EXPECT_FALSE(without->time);
    for (const char* text : {"", "{", "[]", "null", "<html>", R"({"time":"x"})", R"({"action":""})",
                             R"("terminate")"}) {
        EXPECT_FALSE(parse_instance_action(text)) << text;
    }
}

}  // namespace
}  // namespace trainyard::agent
