#include "trainyard/base/text.hpp"

#include <gtest/gtest.h>

namespace trainyard {
namespace {

TEST(Trim, RemovesBlanksAtBothEndsOnly) {
    EXPECT_EQ(trim(" \t a b\r\n"), "a b");
    EXPECT_EQ(trim("   "), "");
    EXPECT_EQ(trim(""), "");
}

TEST(ToLower, LeavesBytesBeyondAsciiAlone) { EXPECT_EQ(to_lower("GPT-2 Ä"), "gpt-2 Ä"); }

TEST(Split, KeepsEmptyParts) {
    EXPECT_EQ(split("a,,b", ','), (std::vector<std::string_view>{"a", "", "b"}));
    EXPECT_EQ(split("", ','), (std::vector<std::string_view>{""}));
    EXPECT_EQ(split("a,", ','), (std::vector<std::string_view>{"a", ""}));
}

TEST(Utf8, AcceptsOneToFourByteSequences) {
    EXPECT_TRUE(is_valid_utf8("a\xC3\xA9\xE2\x82\xAC\xF0\x9F\x9A\x82"));
    EXPECT_TRUE(is_valid_utf8(""));
}

// RFC 3629, sections 3 and 4: the forms that a decoder must refuse.
TEST(Utf8, RefusesMalformedSequences) {
    EXPECT_FALSE(is_valid_utf8("\x80"));              // continuation without lead
    EXPECT_FALSE(is_valid_utf8("\xC3"));              // cut off
    EXPECT_FALSE(is_valid_utf8("\xE2\x82"));          // cut off
    EXPECT_FALSE(is_valid_utf8("\xC0\xAF"));          // overlong "/"
    EXPECT_FALSE(is_valid_utf8("\xE0\x80\xAF"));      // overlong "/"
    EXPECT_FALSE(is_valid_utf8("\xED\xA0\x80"));      // surrogate U+D800
    EXPECT_FALSE(is_valid_utf8("\xF4\x90\x80\x80"));  // beyond U+10FFFF
    EXPECT_FALSE(is_valid_utf8("\xF8\x88\x80\x80\x80"));
    EXPECT_FALSE(is_valid_utf8("\xE2(\x82"));
}

TEST(Utf8, SaysWhereTheFirstBadByteIs) { EXPECT_EQ(valid_utf8_prefix("ab\xFFz"), 2U); }

TEST(Text, PrintableNeutralisesWhatATerminalWouldActOn) {
    EXPECT_EQ(printable("a\x1b[31mb"), "a?[31mb");
    EXPECT_EQ(printable("a\xC2\x9B"
                        "b"),
              "a?b");  // C1 control sequence introducer
    EXPECT_EQ(printable("a\xE2\x80\xAE"
                        "b"),
              "a?b");  // right-to-left override
    EXPECT_EQ(printable("Größe \t\n 6×"), "Größe \t\n 6×");
    EXPECT_EQ(printable("abcdef", 3), "abc…");
    EXPECT_EQ(valid_utf8_prefix("abc"), 3U);
}

TEST(EditDistance, CountsInsertionsDeletionsAndSubstitutions) {
    EXPECT_EQ(edit_distance("kitten", "sitting"), 3);  // k->s, e->i, +g
    EXPECT_EQ(edit_distance("", "abc"), 3);
    EXPECT_EQ(edit_distance("abc", ""), 3);
    EXPECT_EQ(edit_distance("plan", "plan"), 0);
}

TEST(Nearest, FindsTypingSlipsOnly) {
    const std::vector<std::string> names = {"plan", "predict", "validate", "catalog"};
    EXPECT_EQ(nearest("pln", names), "plan");
    EXPECT_EQ(nearest("PREDCIT", names), "predict");
    EXPECT_EQ(nearest("katalog", names), "catalog");
    EXPECT_EQ(nearest("deploy", names), std::nullopt);
    EXPECT_EQ(nearest("", names), std::nullopt);
    EXPECT_EQ(nearest(std::string(1000, 'a'), names), std::nullopt);
}

TEST(Nearest, PrefersTheSmallestDistanceThenTheFirst) {
    const std::vector<std::string> names = {"p4d.24xlarge", "p4de.24xlarge", "p5.48xlarge"};
    EXPECT_EQ(nearest("p4d.24xlrge", names), "p4d.24xlarge");
    EXPECT_EQ(nearest("p4d_24xlarge", names), "p4d.24xlarge");
}

}  // namespace
}  // namespace trainyard
