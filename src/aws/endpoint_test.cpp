#include "endpoint.hpp"

#include <gtest/gtest.h>

namespace trainyard::aws {
namespace {

TEST(Endpoint, Parses) {
    const auto plain = parse_endpoint("http://127.0.0.1:9000");
    ASSERT_TRUE(plain);
    EXPECT_EQ(*plain, (Endpoint{"http", "127.0.0.1:9000", "", false}));
    const auto base = parse_endpoint("HTTPS://Store.Example:443/s3/");
    ASSERT_TRUE(base);
    EXPECT_EQ(*base, (Endpoint{"https", "store.example", "/s3", false}));
    EXPECT_EQ(parse_endpoint("http://[::1]:80")->host, "[::1]");
    EXPECT_EQ(parse_endpoint("http://h:8080")->host, "h:8080");
    EXPECT_TRUE(parse_endpoint("https://s3.eu-west-1.amazonaws.com")->is_aws);
    EXPECT_FALSE(parse_endpoint("https://s3.amazonaws.com.example")->is_aws);
}

TEST(Endpoint, RefusesWhatIsNone) {
    for (const char* url : {"", "host:9000", "ftp://h", "http://", "http://:80", "http://u:p@h",
                            "http://h?x", "http://h h", "http://h/#", "http://h\n"}) {
        EXPECT_FALSE(parse_endpoint(url)) << url;
    }
}

TEST(Endpoint, AddressesOfAws) {
    const Endpoint aws = aws_endpoint("eu-west-1");
    EXPECT_EQ(address_of(aws, Addressing::automatic, "bkt", "a b/c", "uploads=").url,
              "https://bkt.s3.eu-west-1.amazonaws.com/a%20b/c?uploads=");
    EXPECT_EQ(address_of(aws, Addressing::automatic, "my.bkt", "k", "").url,
              "https://s3.eu-west-1.amazonaws.com/my.bkt/k");
    EXPECT_EQ(address_of(aws, Addressing::automatic, "bkt", "", "").url,
              "https://bkt.s3.eu-west-1.amazonaws.com/");
    EXPECT_EQ(aws_endpoint("cn-north-1").host, "s3.cn-north-1.amazonaws.com.cn");
}

TEST(Endpoint, AddressesOfOthers) {
    const Endpoint other{"http", "h:1", "/x", false};
    const Address path = address_of(other, Addressing::automatic, "bkt", "/k", "");
    EXPECT_EQ(path.url, "http://h:1/x/bkt//k");
    EXPECT_EQ(path.path, "/x/bkt//k");
    EXPECT_EQ(address_of(other, Addressing::virtual_host, "bkt", "k", "").url,
              "http://bkt.h:1/x/k");
    EXPECT_EQ(address_of(other, Addressing::path, "bkt", "", "a=").url, "http://h:1/x/bkt?a=");
}

TEST(Endpoint, NamesOfBucketsAndRegions) {
    for (const char* name : {"abc", "a-b.c1", "123"}) EXPECT_TRUE(is_bucket_name(name)) << name;
    for (const char* name : {"ab", "Abc", "a..b", "-ab", "ab-", "a_b", "a/b"}) {
        EXPECT_FALSE(is_bucket_name(name)) << name;
    }
    EXPECT_FALSE(is_bucket_name(std::string(64, 'a')));
    EXPECT_TRUE(is_region_name("us-gov-west-1"));
    EXPECT_FALSE(is_region_name("us-east-1/x"));
    EXPECT_FALSE(is_region_name(""));
}

}  // namespace
}  // namespace trainyard::aws
