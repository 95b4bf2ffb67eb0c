#include "trainyard/render/names.hpp"

#include <gtest/gtest.h>

#include "trainyard/render/directory.hpp"

namespace trainyard::render {
namespace {

constexpr NameRule kRule = {.what = "a name", .longest = 20, .upper_case = false, .source = "test"};

TEST(RenderNames, WhateverTheWishTheNameIsLegal) {
    for (const std::string wish : {"", "llama-3.1-8b", "--", "7B run", "ÄÖ", "a  b", "UPPER",
                                   "a/very/long/name/that/does/not/fit", "$(id)"}) {
        const std::string name = legal_name(kRule, wish);
        EXPECT_FALSE(broken_name(kRule, name).has_value()) << wish << " -> " << name;
    }
    EXPECT_EQ(legal_name(kRule, "llama-3.1-8b"), "llama-3-1-8b");
    EXPECT_EQ(legal_name(kRule, "7B"), "job-7b");
}

TEST(RenderNames, TwoLongNamesStayTwo) {
    const std::string a = legal_name(kRule, "the same beginning, first");
    const std::string b = legal_name(kRule, "the same beginning, second");
    EXPECT_EQ(a.size(), 20U);
    EXPECT_NE(a, b);
}

TEST(RenderNames, ATypedNameIsNeverChanged) {
    Options options;
    options.job_name = "Not legal";
    const auto refused = job_name(kRule, Recipe{}, options);
    ASSERT_FALSE(refused.has_value());
    EXPECT_NE(refused.error().diagnostics.front().fix.find("not-legal"), std::string::npos);
    options.job_name = "legal-1";
    EXPECT_EQ(*job_name(kRule, Recipe{}, options), "legal-1");
}

TEST(RenderNames, S3Addresses) {
    EXPECT_EQ(parse_s3("s3://my-bucket/a/b/")->text(), "s3://my-bucket/a/b");
    EXPECT_EQ(parse_s3("s3://my-bucket")->text(), "s3://my-bucket");
    for (const char* bad : {"", "my-bucket", "s3://", "s3://ab", "s3://Upper/x", "s3://-a-b",
                            "s3://a..b", "s3://bucket/a b", "s3://bucket/a\nb", "s3://bucket/a//b"})
        EXPECT_FALSE(parse_s3(bad).has_value()) << bad;
}

// FIPS 180-4, example B.1.
TEST(RenderDirectory, Sha256AndOrder) {
    EXPECT_EQ(sha256("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    Directory d;
    d.add({"b", "2"});
    d.add({"a/c", "1"});
    ASSERT_EQ(d.files().size(), 2U);
    EXPECT_EQ(d.files().front().path, "a/c");
    EXPECT_EQ(d.find("b")->content, "2");
    EXPECT_EQ(d.find("c"), nullptr);
}

}  // namespace
}  // namespace trainyard::render
