#include "s3_answer.hpp"

#include <gtest/gtest.h>

#include "request_gate.hpp"
#include "s3_headers.hpp"
#include "s3_xml.hpp"
#include "trainyard/aws/etag.hpp"

namespace trainyard::aws {
namespace {

using namespace std::chrono_literals;

TEST(S3Answer, CodeDecidesBeforeTheStatus) {
    EXPECT_EQ(judge_answer(503, "SlowDown").step, Step::again_slow);
    EXPECT_EQ(judge_answer(200, "SlowDown").step, Step::again_slow);  // inside a Complete
    EXPECT_EQ(judge_answer(400, "RequestTimeout").step, Step::again);
    EXPECT_EQ(judge_answer(400, "ExpiredToken").step, Step::credentials);
    EXPECT_EQ(judge_answer(403, "RequestTimeTooSkewed").step, Step::clock);
    EXPECT_EQ(judge_answer(403, "AccessDenied").fault, StoreFault::access_denied);
    EXPECT_EQ(judge_answer(400, "EntityTooSmall").fault, StoreFault::invalid);
    EXPECT_EQ(judge_answer(400, "EntityTooSmall").step, Step::fail);
}

TEST(S3Answer, StatusAlone) {
    for (const int status : {500, 502, 504, 599, 408, 409}) {
        EXPECT_EQ(judge_answer(status, "").step, Step::again) << status;
    }
    for (const int status : {429, 503}) {
        EXPECT_EQ(judge_answer(status, "").step, Step::again_slow) << status;
    }
    for (const int status : {301, 302, 307, 308}) {
        EXPECT_EQ(judge_answer(status, "").step, Step::redirect) << status;
    }
    EXPECT_EQ(judge_answer(404, "").fault, StoreFault::not_found);
    EXPECT_EQ(judge_answer(412, "").fault, StoreFault::precondition_failed);
    EXPECT_EQ(judge_answer(507, "").fault, StoreFault::full);
    EXPECT_EQ(judge_answer(418, "").step, Step::fail);
}

TEST(S3Xml, RefusesWhatIsNotTheAnswer) {
    for (const char* text :
         {"", "<", "<html><body/></html>", "<Error><Code>InternalError</Code></Error>",
          "<ListBucketResult><Contents><Key>k</Key></Contents></ListBucketResult>",
          "<ListBucketResult><IsTruncated>true</IsTruncated></ListBucketResult>"}) {
        EXPECT_FALSE(parse_listing(text)) << text;
        EXPECT_FALSE(parse_completed(text)) << text;
        EXPECT_FALSE(parse_upload_id(text)) << text;
        EXPECT_FALSE(parse_parts(text)) << text;
        EXPECT_FALSE(parse_uploads(text)) << text;
        EXPECT_FALSE(parse_deleted(text)) << text;
    }
}

TEST(S3Xml, ErrorDocumentOfARedirect) {
    const auto error = parse_error(
        "<?xml version=\"1.0\"?>\n<Error><Code>PermanentRedirect</Code><Message>a &amp; b</Message>"
        "<Region>eu-west-1</Region><Endpoint>b.s3.eu-west-1.amazonaws.com</Endpoint></Error>");
    ASSERT_TRUE(error);
    EXPECT_EQ(error->code, "PermanentRedirect");
    EXPECT_EQ(error->message, "a & b");
    EXPECT_EQ(error->region, "eu-west-1");
    EXPECT_EQ(error->endpoint, "b.s3.eu-west-1.amazonaws.com");
}

TEST(S3Xml, KeysAreEscapedAndReadBack) {
    const std::string text = delete_document({"<a>&\"\n'", "b"});
    EXPECT_NE(text.find("<Key>&lt;a&gt;&amp;&quot;&#10;'</Key>"), std::string::npos) << text;
    const auto listing = parse_listing(
        "<ListBucketResult><EncodingType>url</EncodingType><Contents><Key>a+b%2Bc%01</Key>"
        "<LastModified>2026-12-02T23:07:06.000Z</LastModified><ETag>&quot;e&quot;</ETag>"
        "<Size>5</Size></Contents></ListBucketResult>");
    ASSERT_TRUE(listing);
    EXPECT_EQ(listing->objects.at(0).key, "a b+c\x01");
    EXPECT_EQ(listing->objects.at(0).etag, "e");
    EXPECT_TRUE(is_xml_text("a\tb\n\xC3\xA9"));
    for (const char* odd : {"\x01", "\r", "\xff", "\xEF\xBF\xBF"}) EXPECT_FALSE(is_xml_text(odd));
}

TEST(S3Headers, EtagOfParts) {
    // MD5 of the two digests of "a" and "b": md5(0cc175b9c0f1b6a831c399e269772661
    // 92eb5ffee6ae2fec3ad71c777531578f) by coreutils' md5sum.
    std::vector<Part> parts(2);
    parts[0].etag = "0cc175b9c0f1b6a831c399e269772661";
    parts[1].etag = "92eb5ffee6ae2fec3ad71c777531578f";
    EXPECT_EQ(etag_of_parts(parts), "96e024ba2074fe77e8e965ba43a704be-2");
    parts[1].etag = "not a digest";
    EXPECT_EQ(etag_of_parts(parts), std::nullopt);
}

TEST(S3Headers, CompositeChecksumIsNotThatOfTheObject) {
    sys::HttpResponse response;
    response.headers = {{"x-amz-checksum-crc32c", "4waSgw=="}};
    EXPECT_EQ(checksum_in(response), checksum_of(ChecksumAlgorithm::crc32c, "123456789"));
    response.headers.push_back({"x-amz-checksum-type", "COMPOSITE"});
    EXPECT_EQ(checksum_in(response), std::nullopt);
    response.headers = {{"x-amz-checksum-crc32c", "4waSgw==-3"}};
    EXPECT_EQ(checksum_in(response), std::nullopt);
}

TEST(RequestGate, HalvesOnceABurstAndRecovers) {
    RequestGate gate(100);
    const RequestGate::Clock::time_point t0 = RequestGate::Clock::now();
    for (int i = 0; i < 20; ++i) ASSERT_TRUE(gate.enter({}, {}));
    for (int i = 0; i < 10; ++i) gate.leave(true, t0);
    EXPECT_NEAR(gate.limit(), 14.0, 1e-9);  // 0.7 of the 20 that were inside, once
    gate.leave(true, t0 + 1s);
    EXPECT_NEAR(gate.limit(), 7.0, 1e-9);  // 0.7 of the 10
    for (int i = 0; i < 9; ++i) gate.leave(false, t0 + 2s);
    EXPECT_GT(gate.limit(), 8.0);
    EXPECT_LT(gate.limit(), 9.0);
}

TEST(RequestGate, FullGateWaitsNoLongerThanTheDeadline) {
    RequestGate gate(1);
    ASSERT_TRUE(gate.enter({}, {}));
    EXPECT_FALSE(gate.enter({}, RequestGate::Clock::now() + 20ms));
    gate.leave(false);
    EXPECT_TRUE(gate.enter({}, RequestGate::Clock::now() + 20ms));
}

TEST(Etag, IsAnMd5OrNot) {
    EXPECT_EQ(etag_of(""), "d41d8cd98f00b204e9800998ecf8427e");  // RFC 1321, A.5
    EXPECT_TRUE(is_md5_etag("d41d8cd98f00b204e9800998ecf8427e"));
    EXPECT_TRUE(is_md5_etag("d41d8cd98f00b204e9800998ecf8427e-12"));
    for (const char* other :
         {"", "d41d8cd98f00b204e9800998ecf8427", "D41d8cd98f00b204e9800998ecf8427e",
          "d41d8cd98f00b204e9800998ecf8427e-", "1f-17a2b", "d41d8cd98f00b204e9800998ecf8427e-x"}) {
        EXPECT_FALSE(is_md5_etag(other)) << other;
    }
}

}  // namespace
}  // namespace trainyard::aws
