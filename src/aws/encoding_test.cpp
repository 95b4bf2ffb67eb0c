#include "encoding.hpp"

#include <gtest/gtest.h>

#include "trainyard/base/random.hpp"

namespace trainyard::aws {
namespace {

TEST(Encoding, Base64OfRfc4648) {
    // RFC 4648, section 10.
    EXPECT_EQ(base64(""), "");
    EXPECT_EQ(base64("f"), "Zg==");
    EXPECT_EQ(base64("fo"), "Zm8=");
    EXPECT_EQ(base64("foo"), "Zm9v");
    EXPECT_EQ(base64("foobar"), "Zm9vYmFy");
}

TEST(Encoding, Base64ReadsBackAnyBytes) {
    Random random(1, 0);
    for (int i = 0; i < 500; ++i) {
        std::string bytes;
        for (std::uint64_t n = random.below(40); n != 0; --n) {
            bytes += static_cast<char>(random.below(256));
        }
        EXPECT_EQ(parse_base64(base64(bytes)), bytes);
    }
}

TEST(Encoding, WhatIsNoBase64) {
    for (const char* text : {"Z", "Zg=", "Zg==Zg==", "Zm9v\n", "=Zm9", "Zm 9"}) {
        EXPECT_EQ(parse_base64(text), std::nullopt) << text;
    }
}

TEST(Encoding, UriEncodesAllButUnreserved) {
    std::string all;
    for (int c = 0; c < 256; ++c) all += static_cast<char>(c);
    const std::string encoded = uri_encode(all, Slash::encode);
    EXPECT_EQ(encoded.size(), 66U + 3U * (256 - 66));  // 26 + 26 + 10 + 4 stay
    EXPECT_EQ(uri_decode(encoded), all);
    EXPECT_EQ(uri_encode("a/b c+\xC3\xA9~", Slash::keep), "a/b%20c%2B%C3%A9~");
    EXPECT_EQ(uri_encode("a/b", Slash::encode), "a%2Fb");
}

TEST(Encoding, UriDecodeRefusesHalfAnEscape) {
    for (const char* text : {"%", "%4", "a%", "%zz", "%4g"}) {
        EXPECT_EQ(uri_decode(text), std::nullopt) << text;
    }
    EXPECT_EQ(uri_decode("%c3%A9+"), "\xC3\xA9+");
}

TEST(Encoding, Hex) { EXPECT_EQ(hex(std::string_view("\x00\xff\x1a", 3)), "00ff1a"); }

}  // namespace
}  // namespace trainyard::aws
