#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "test_bucket.hpp"
#include "trainyard/aws/part_plan.hpp"

namespace trainyard::aws {
namespace {

constexpr std::size_t kPart = std::size_t{64} << 10U;

class S3Store : public testing::Test {
  protected:
    void open(std::vector<std::string> options = {}) {
        options.insert(options.end(), {"--min-part", std::to_string(kPart)});
        bucket_ = std::make_unique<TestBucket>(options);
        if (bucket_->server.port() == 0) GTEST_SKIP() << "no python3";
        bucket_->open();
    }
    ObjectStore& store() { return *bucket_->store; }
    const Call& call() const { return bucket_->call; }
    void put(const std::string& key, std::string_view body) {
        const auto done = store().put(key, body, {}, call());
        ASSERT_TRUE(done) << key << ": " << done.error().what << done.error().code;
    }
    std::vector<Part> put_parts(const Upload& upload, const std::string& body,
                                ChecksumAlgorithm algorithm) {
        std::vector<Part> parts;
        for (std::size_t at = 0; at < body.size(); at += kPart) {
            const std::string_view piece = std::string_view(body).substr(at, kPart);
            auto part = store().put_part(upload, static_cast<int>(parts.size()) + 1, piece,
                                         checksum_of(algorithm, piece), call());
            EXPECT_TRUE(part) << part.error().what;
            if (part) parts.push_back(*part);
        }
        return parts;
    }

    std::unique_ptr<TestBucket> bucket_;
};

const std::vector<std::string> kOddKeys = {
    "a b",
    "a+b",
    "caf\xC3\xA9",
    "step=100",
    "a:b",
    "a@b",
    "a,b",
    "a;b",
    "a(1)",
    "a!",
    "a'b",
    "a*b",
    "a~b",
    "a$b",
    "a&b",
    "a%b",
    "a%2Fb",
    "a#b",
    "a?b",
    "a[0]",
    "x//y",
    "x/./z",
    "x/../w",
    "..",
    ".",
    "ckpt/step_100/__0_0.distcp",
    "dir/",
    "/lead",
    "\xE2\x80\x8Eleft",
    "\xE2\x80\xAFnarrow",
    "a\\b",
    "own key+\xC3\xA9=:@&().bin",
    "\xF0\x9F\x9A\x82",
    "a\tb",
    "a\nb",
    "a\rb",
    "\x01",
    "<a>\"'&amp;",
    " ",
    "+",
    "%",
    "a  b",
    std::string(1024, 'k'),
};

TEST_F(S3Store, EveryOddKeyIsWrittenListedReadAndRemoved) {
    open({"--page", "7"});
    for (const std::string& key : kOddKeys) put(key, "of " + key);
    std::set<std::string> listed;
    std::string next;
    int pages = 0;
    do {
        const auto page = store().list("", 0, next, call());
        ASSERT_TRUE(page) << page.error().what;
        for (const ObjectInfo& o : page->objects) listed.insert(o.key);
        next = page->next;
        ++pages;
    } while (!next.empty());
    EXPECT_EQ(listed, std::set<std::string>(kOddKeys.begin(), kOddKeys.end()));
    EXPECT_EQ(pages, static_cast<int>((kOddKeys.size() + 6) / 7));
    for (const std::string& key : kOddKeys) {
        const auto body = store().read(key, 10'000, call());
        ASSERT_TRUE(body) << key << body.error().what;
        EXPECT_EQ(*body, "of " + key);
    }
    const auto failures = store().remove(kOddKeys, call());
    ASSERT_TRUE(failures) << failures.error().what;
    EXPECT_TRUE(failures->empty());
    EXPECT_EQ(bucket_->stat("objects"), 0);
}

TEST_F(S3Store, HeadTellsSizeTimeAndChecksum) {
    open();
    put("k", "hello");
    const auto there = store().head("k", call());
    ASSERT_TRUE(there);
    EXPECT_EQ(there->size, 5U);
    EXPECT_EQ(there->checksum, checksum_of(ChecksumAlgorithm::crc32c, "hello"));
    EXPECT_EQ(there->etag, "5d41402abc4b2a76b9719d911017c592");  // MD5 of "hello"
    const auto age = std::chrono::system_clock::now() - there->modified;
    EXPECT_LT(std::chrono::abs(age), std::chrono::minutes(2));
}

TEST_F(S3Store, WhatIsNotThere) {
    open();
    EXPECT_EQ(store().head("k", call()).error().fault, StoreFault::not_found);
    EXPECT_EQ(store().read("k", 10, call()).error().fault, StoreFault::not_found);
    std::string into(3, ' ');
    const auto got = store().get("k", 0, into, {}, call());
    ASSERT_FALSE(got);
    EXPECT_EQ(got.error().fault, StoreFault::not_found);
    EXPECT_EQ(got.error().http_status, 404);
    EXPECT_EQ(got.error().code, "NoSuchKey");
    EXPECT_EQ(got.error().attempts, 1);
    EXPECT_TRUE(store().remove({"k"}, call())->empty());
    EXPECT_EQ(store().list_parts({"k", "none"}, {}, call()).error().fault,
              StoreFault::no_such_upload);
    EXPECT_TRUE(store().abort_upload({"k", "none"}, call()));
    bucket_->settings.bucket = "other";
    bucket_->open();
    EXPECT_EQ(store().put("k", "x", {}, call()).error().fault, StoreFault::no_such_bucket);
}

TEST_F(S3Store, IfAbsentKeepsTheFirst) {
    open();
    const PutOptions once{.if_absent = true, .checksum = {}, .content_type = {}};
    EXPECT_TRUE(store().put("k", "first", once, call()));
    const auto second = store().put("k", "first", once, call());
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().fault, StoreFault::precondition_failed);
    put("k", "third");
    EXPECT_EQ(store().read("k", 10, call()), "third");
}

TEST_F(S3Store, WrongChecksumIsRefusedByTheServer) {
    open();
    bucket_->settings.attempts = 2;
    bucket_->open();
    for (const auto algorithm : {ChecksumAlgorithm::crc32c, ChecksumAlgorithm::crc64nvme}) {
        PutOptions options;
        options.checksum = checksum_of(algorithm, "other");
        const auto done = store().put("k", "body", options, call());
        ASSERT_FALSE(done);
        EXPECT_EQ(done.error().fault, StoreFault::checksum);
        options.checksum = checksum_of(algorithm, "body");
        EXPECT_TRUE(store().put("k", "body", options, call()));
    }
}

TEST_F(S3Store, PartsMakeTheObject) {
    open({"--page", "3"});
    const std::string body = test_bytes(1, 8 * kPart + 17);
    for (const auto algorithm : {ChecksumAlgorithm::crc32c, ChecksumAlgorithm::crc64nvme}) {
        const auto upload = store().create_upload("big key+", algorithm, call());
        ASSERT_TRUE(upload) << upload.error().what;
        const std::vector<Part> parts = put_parts(*upload, body, algorithm);
        std::vector<Part> listed;
        std::string next;
        do {
            const auto page = store().list_parts(*upload, next, call());
            ASSERT_TRUE(page);
            listed.insert(listed.end(), page->parts.begin(), page->parts.end());
            next = page->next;
        } while (!next.empty());
        ASSERT_EQ(listed.size(), parts.size());
        for (std::size_t i = 0; i < parts.size(); ++i) {
            EXPECT_EQ(listed[i].etag, parts[i].etag);
            EXPECT_EQ(listed[i].checksum, parts[i].checksum);
        }
        Checksum whole = empty_checksum(algorithm);
        for (const Part& part : parts) whole = combine(whole, *part.checksum, part.size);
        const auto done = store().complete_upload(*upload, listed,
                                                  {.if_absent = false, .checksum = whole}, call());
        ASSERT_TRUE(done) << done.error().what << done.error().code;
        std::string into(body.size(), ' ');
        ASSERT_TRUE(store().get("big key+", 0, into, whole, call()));
        EXPECT_EQ(into, body);
        // The answer was lost, the process died, and the journal says "complete it":
        EXPECT_TRUE(store().complete_upload(*upload, listed,
                                            {.if_absent = false, .checksum = whole}, call()));
    }
    EXPECT_EQ(bucket_->stat("open_uploads"), 0);
}

TEST_F(S3Store, CompletedUploadOfOtherBytesIsNoSuccess) {
    open();
    const std::string body = test_bytes(2, 2 * kPart);
    const auto upload = store().create_upload("k", ChecksumAlgorithm::crc32c, call());
    const std::vector<Part> parts = put_parts(*upload, body, ChecksumAlgorithm::crc32c);
    ASSERT_TRUE(store().abort_upload(*upload, call()));
    put("k", test_bytes(3, body.size()));  // the same size, other bytes
    const auto done = store().complete_upload(*upload, parts, {}, call());
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().fault, StoreFault::no_such_upload);
}

TEST_F(S3Store, UploadsAreListedAndAborted) {
    open({"--page", "2"});
    std::set<std::string> made;
    for (const char* key : {"p/a b", "p/a b", "p/c+d", "p/e", "q/x"}) {
        const auto upload = store().create_upload(key, ChecksumAlgorithm::crc64nvme, call());
        ASSERT_TRUE(upload);
        if (key[0] == 'p') made.insert(upload->key + upload->id);
    }
    std::set<std::string> found;
    std::vector<Upload> all;
    std::string next;
    do {
        const auto page = store().list_uploads("p/", next, call());
        ASSERT_TRUE(page) << page.error().what;
        for (const OpenUpload& u : page->uploads) {
            found.insert(u.upload.key + u.upload.id);
            all.push_back(u.upload);
        }
        next = page->next;
    } while (!next.empty());
    EXPECT_EQ(found, made);
    for (const Upload& upload : all) EXPECT_TRUE(store().abort_upload(upload, call()));
    EXPECT_EQ(bucket_->stat("open_uploads"), 1);
}

TEST_F(S3Store, ListsGroups) {
    open({"--page", "2"});
    for (const char* key : {"c/1/a", "c/1/b", "c/2/a", "c/z", "c/3/a", "d"}) put(key, "");
    std::vector<std::string> groups;
    std::vector<std::string> keys;
    std::string next;
    do {
        const auto page = store().list("c/", '/', next, call());
        ASSERT_TRUE(page);
        groups.insert(groups.end(), page->prefixes.begin(), page->prefixes.end());
        for (const ObjectInfo& o : page->objects) keys.push_back(o.key);
        next = page->next;
    } while (!next.empty());
    EXPECT_EQ(groups, (std::vector<std::string>{"c/1/", "c/2/", "c/3/"}));
    EXPECT_EQ(keys, std::vector<std::string>{"c/z"});
}

TEST_F(S3Store, ThousandsAreRemovedInBatches) {
    open();
    std::vector<std::string> keys;
    for (int i = 0; i < 2345; ++i) keys.push_back("k" + std::to_string(i));
    put("k0", "x");
    put("k2344", "x");
    ASSERT_TRUE(store().remove(keys, call()));
    EXPECT_EQ(bucket_->stat("op.delete"), 3);
    EXPECT_EQ(bucket_->stat("objects"), 0);
}

TEST_F(S3Store, RangeBeyondTheEndIsAFault) {
    open();
    put("k", "0123456789");
    std::string into(4, ' ');
    EXPECT_TRUE(store().get("k", 6, into, {}, call()));
    EXPECT_EQ(into, "6789");
    bucket_->settings.attempts = 2;
    bucket_->open();
    EXPECT_EQ(store().get("k", 7, into, {}, call()).error().fault, StoreFault::checksum);
    EXPECT_EQ(store().get("k", 10, into, {}, call()).error().fault, StoreFault::checksum);
    EXPECT_EQ(store().read("k", 9, call()).error().fault, StoreFault::invalid);
}

TEST_F(S3Store, RottenBytesAreFoundOnReading) {
    open();
    const std::string body = test_bytes(4, 5000);
    put("k", body);
    sys::HttpClient client;
    const auto damaged =
        client.perform({.method = "GET", .url = bucket_->server.url() + "/-/damage?k"});
    ASSERT_TRUE(damaged);
    bucket_->settings.attempts = 3;
    bucket_->open();
    std::string into(body.size(), ' ');
    const auto got =
        store().get("k", 0, into, checksum_of(ChecksumAlgorithm::crc32c, body), call());
    ASSERT_FALSE(got);
    EXPECT_EQ(got.error().fault, StoreFault::checksum);
    EXPECT_EQ(got.error().attempts, 3);
    EXPECT_EQ(store().read("k", 10'000, call()).error().fault, StoreFault::checksum);
}

TEST_F(S3Store, FullStoreIsAClearError) {
    open({"--room", "1000"});
    const auto done = store().put("k", std::string(2000, 'x'), {}, call());
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().fault, StoreFault::full);
    EXPECT_EQ(done.error().attempts, 1);
    EXPECT_EQ(to_error(done.error()).kind, ErrorKind::world);
}

TEST_F(S3Store, KeysThatNoStoreTakes) {
    open();
    for (const std::string& key : {std::string(), std::string(1025, 'k'), std::string("\xff")}) {
        const auto done = store().put(key, "x", {}, call());
        ASSERT_FALSE(done);
        EXPECT_EQ(done.error().fault, StoreFault::invalid);
    }
    EXPECT_EQ(bucket_->stat("op.put"), 0);
}

TEST_F(S3Store, StoreWithoutChecksumsStillWorks) {
    open({"--no-checksums"});
    bucket_->settings.send_checksums = false;
    bucket_->open();
    const std::string body = test_bytes(5, 3 * kPart);
    const auto upload = store().create_upload("k", ChecksumAlgorithm::crc32c, call());
    ASSERT_TRUE(upload);
    const auto parts = put_parts(*upload, body, ChecksumAlgorithm::crc32c);
    ASSERT_TRUE(store().complete_upload(*upload, parts, {}, call()));
    ASSERT_TRUE(store().complete_upload(*upload, parts, {}, call()));  // found by its ETag
    EXPECT_EQ(store().read("k", 1 << 20, call()), body);
}

TEST(OpenS3, NamesEveryMistake) {
    S3Settings settings;
    settings.bucket = "No_Bucket";
    settings.region = "moon/1";
    settings.endpoint = "host";
    const auto opened = open_s3(settings, fixed_credentials({"a", "b", {}, {}}));
    ASSERT_FALSE(opened);
    EXPECT_EQ(opened.error().kind, ErrorKind::bad_input);
    EXPECT_EQ(opened.error().diagnostics.size(), 3U);
}

}  // namespace
}  // namespace trainyard::aws
