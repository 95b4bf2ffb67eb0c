#include "sigv4.hpp"

#include <gtest/gtest.h>

#include "digest.hpp"
#include "encoding.hpp"
#include "trainyard/base/text.hpp"
#include "trainyard/doc/csv.hpp"
#include "trainyard/sys/environment.hpp"

namespace trainyard::aws {
namespace {

using namespace std::chrono_literals;
using std::chrono::sys_days;

const Credentials kExample{
    "AKIAIOSFODNN7EXAMPLE", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", {}, {}};

std::string authorization(std::vector<sys::HttpHeader>& headers) {
    return headers.empty() ? "" : headers.back().value;
}

// The four examples of the page "Authenticating Requests: Using the Authorization Header (AWS
// Signature Version 4)" of the S3 API reference.
struct Example {
    const char* method;
    const char* path;
    Query query;
    std::vector<sys::HttpHeader> headers;
    std::string payload;
    const char* signature;
};

TEST(Sigv4, ExamplesOfTheS3Reference) {
    const std::vector<Example> examples = {
        {"GET",
         "/test.txt",
         {},
         {{"Range", "bytes=0-9"}},
         "",
         "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41"},
        {"PUT",
         "/test$file.text",
         {},
         {{"Date", "Fri, 24 May 2013 00:00:00 GMT"}, {"x-amz-storage-class", "REDUCED_REDUNDANCY"}},
         "Welcome to Amazon S3.",
         "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd"},
        {"GET",
         "/",
         {{"lifecycle", ""}},
         {},
         "",
         "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543"},
        {"GET",
         "/",
         {{"prefix", "J"}, {"max-keys", "2"}},
         {},
         "",
         "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"},
    };
    Signer signer("us-east-1", "s3");
    for (const Example& e : examples) {
        std::vector<sys::HttpHeader> headers = e.headers;
        headers.push_back({"Host", "examplebucket.s3.amazonaws.com"});
        const std::string hash = hex(sha256(e.payload));
        signer.sign({e.method, e.path, e.query, headers, hash}, kExample, sys_days{2013y / 5 / 24});
        EXPECT_TRUE(authorization(headers).ends_with(e.signature)) << authorization(headers);
    }
}

std::string decoded(std::string_view text) { return uri_decode(text).value_or("not encoded"); }

std::vector<sys::HttpHeader> parse_headers(std::string_view text) {
    std::vector<sys::HttpHeader> headers;
    for (const std::string_view line : split(text, '|')) {
        const std::size_t colon = line.find(':');
        if (colon == std::string_view::npos) continue;
        headers.push_back(
            {std::string(line.substr(0, colon)), std::string(line.substr(colon + 1))});
    }
    return headers;
}

Query parse_query(std::string_view text) {
    Query query;
    if (text.empty()) return query;
    for (const std::string_view pair : split(text, '&')) {
        const std::size_t equals = pair.find('=');
        query.emplace_back(decoded(pair.substr(0, equals)), decoded(pair.substr(equals + 1)));
    }
    return query;
}

// tests/aws/sigv4_vectors.py says where the vectors come from.
TEST(Sigv4, AgreesWithBotocoreOnEveryLine) {
    const std::string file = "tests/aws/sigv4_vectors.csv";
    const Result<std::string> text = sys::read_file(file);
    ASSERT_TRUE(text) << format(text.error().diagnostics);
    const Result<doc::CsvTable> table = doc::parse_csv(*text, file);
    ASSERT_TRUE(table) << format(table.error().diagnostics);
    ASSERT_GE(table->size(), 95U);
    Signer signer("us-east-1", "s3");
    for (std::size_t i = 0; i < table->size(); ++i) {
        std::vector<sys::HttpHeader> headers = parse_headers(table->cell(i, "headers"));
        headers.push_back({"Host", "127.0.0.1:17480"});
        Credentials credentials = kExample;
        credentials.session_token = table->cell(i, "token");
        const Query query = parse_query(table->cell(i, "query"));
        const std::string path = decoded(table->cell(i, "path"));
        signer.sign({table->cell(i, "method"), path, query, headers, table->cell(i, "payload")},
                    credentials, sys_days{2026y / 12 / 2} + 3h + 4min + 5s);
        EXPECT_EQ(authorization(headers), table->cell(i, "authorization"))
            << file << ":" << table->line(i) << ": " << table->cell(i, "case");
    }
}

TEST(Sigv4, CanonicalRequestOfOddInput) {
    std::vector<sys::HttpHeader> headers = {
        {"Host", "h:1"}, {"X-B", " a \t b "}, {"x-a", ""}, {"X-B", "c"}};
    const Query query = {{"b", "2"}, {"a", "x y"}, {"a", "/"}, {"uploads", ""}};
    EXPECT_EQ(canonical_request({"GET", "/k//./..", query, headers, kUnsignedPayload}),
              "GET\n/k//./..\na=%2F&a=x%20y&b=2&uploads=\nhost:h:1\nx-a:\nx-b:a b,c\n\n"
              "host;x-a;x-b\nUNSIGNED-PAYLOAD");
}

TEST(Sigv4, KeyFollowsTheDayAndTheSecret) {
    const Query none;
    const auto sign = [&](Signer& signer, const Credentials& who, SigningTime time) {
        std::vector<sys::HttpHeader> headers = {{"Host", "h"}};
        signer.sign({"GET", "/", none, headers, kUnsignedPayload}, who, time);
        return authorization(headers);
    };
    Credentials other = kExample;
    other.secret_key = "other";
    const SigningTime day = sys_days{2026y / 12 / 2} + 23h + 59min + 59s;
    Signer used("eu-west-1", "s3");
    for (const auto& [who, time] : {std::pair{kExample, day}, {kExample, day + 1s}, {other, day}}) {
        Signer fresh("eu-west-1", "s3");
        EXPECT_EQ(sign(used, who, time), sign(fresh, who, time));
    }
    EXPECT_NE(sign(used, kExample, day), sign(used, kExample, day + 1s));
}

TEST(Sigv4, TimeOfAmz) {
    EXPECT_EQ(amz_time(sys_days{2024y / 2 / 29} + 1h + 2min + 3s), "20240229T010203Z");
    EXPECT_EQ(amz_time(sys_days{1970y / 1 / 1}), "19700101T000000Z");
}

TEST(Digest, KnownAnswers) {
    // FIPS 180-4 example "abc"; RFC 4231 test case 2; RFC 1321 "abc".
    EXPECT_EQ(hex(sha256("abc")),
              "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    EXPECT_EQ(hex(hmac_sha256("Jefe", "what do ya want for nothing?")),
              "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
    EXPECT_EQ(hex(md5("abc")), "900150983cd24fb0d6963f7d28e17f72");
}

}  // namespace
}  // namespace trainyard::aws
