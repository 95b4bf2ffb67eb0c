#include "http_time.hpp"

#include <gtest/gtest.h>

namespace trainyard::aws {
namespace {

using namespace std::chrono_literals;
using std::chrono::sys_days;

TEST(HttpTime, DateHeader) {
    // The example of RFC 9110, section 5.6.7.
    EXPECT_EQ(parse_http_time("Sun, 06 Nov 1994 08:49:37 GMT"),
              sys_days{1994y / 11 / 6} + 8h + 49min + 37s);
    for (const char* text : {"", "Sun, 06 Nov 1994 08:49:37 CET", "Sun, 31 Feb 1994 08:49:37 GMT",
                             "Sun, 06 Nov 1994 24:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT",
                             "Sun, 06 ovD 1994 08:49:37 GMT", "Sun, 0x Nov 1994 08:49:37 GMT"}) {
        EXPECT_EQ(parse_http_time(text), std::nullopt) << text;
    }
}

TEST(HttpTime, Iso) {
    const ParsedTime time = sys_days{2026y / 12 / 2} + 23h + 7min + 6s;
    EXPECT_EQ(parse_iso_time("2026-12-02T23:07:06Z"), time);
    EXPECT_EQ(parse_iso_time("2026-12-02T23:07:06.123Z"), time);
    EXPECT_EQ(parse_iso_time("2026-12-02T23:07:06+00:00"), time);
    for (const char* text :
         {"", "2026-12-02T23:07:06", "2026-13-02T23:07:06Z", "2026-12-02 23:07:06Z",
          "2026-12-02T23:07:06+01:00", "2026-12-02T23-07:06Z", "2026-12-02T23:07:06.Zz"}) {
        EXPECT_EQ(parse_iso_time(text), std::nullopt) << text;
    }
}

}  // namespace
}  // namespace trainyard::aws
