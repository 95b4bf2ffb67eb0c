// The client in front of Ceph's gateway, a server of others that verifies signatures as AWS does.
// Runs only with the peers (TRAINYARD_PEERS=1) and where Debian's packages are installed.

#include <gtest/gtest.h>

#include <set>
#include <thread>

#include "test_bucket.hpp"
#include "trainyard/sys/environment.hpp"

namespace trainyard::aws {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kPart = std::size_t{5} << 20U;

/// One cluster for all tests: it takes half a minute to start.
FaultServer& radosgw() {
    static FaultServer server({}, "tests/support/radosgw.py");
    return server;
}

class RadosGw : public testing::Test {
  protected:
    void SetUp() override {
        if (sys::get_env("TRAINYARD_PEERS") != "1") GTEST_SKIP() << "TRAINYARD_PEERS is not 1";
        if (radosgw().port() == 0) GTEST_SKIP() << "radosgw is not installed or does not start";
        settings_.bucket = "bkt1";
        settings_.endpoint = radosgw().url();
        settings_.http_threads = 1;
        open();
    }
    void open() {
        call_.deadline = StoreClock::now() + 200s;
        auto opened = open_s3(settings_, fixed_credentials({"radostest", secret_, {}, {}}));
        ASSERT_TRUE(opened);
        store_ = *std::move(opened);
    }

    S3Settings settings_;
    std::string secret_ = "radosecret";
    std::unique_ptr<ObjectStore> store_;
    Call call_;
};

TEST_F(RadosGw, OddKeys) {
    const std::vector<std::string> keys = {"o/a b",
                                           "o/a+b",
                                           "o/caf\xC3\xA9",
                                           "o/step=100",
                                           "o/a:b",
                                           "o/a@b",
                                           "o/a,b",
                                           "o/a;b",
                                           "o/a(1)",
                                           "o/a!",
                                           "o/a'b",
                                           "o/a*b",
                                           "o/a~b",
                                           "o/a$b",
                                           "o/a&b",
                                           "o/a%b",
                                           "o/a#b",
                                           "o/a?b",
                                           "o/a[0]",
                                           "o/x//y",
                                           "o/x/./z",
                                           "o/x/../w",
                                           "o/dir/",
                                           "o/\xE2\x80\x8Eleft",
                                           "o/\xE2\x80\xAFnarrow",
                                           "o/own key+\xC3\xA9=:@&().bin",
                                           "o/a\\b",
                                           "o/\xF0\x9F\x9A\x82"};
    for (const std::string& key : keys) {
        const auto put = store_->put(key, "of " + key, {}, call_);
        ASSERT_TRUE(put) << key << ": " << put.error().what << " " << put.error().code;
        EXPECT_EQ(store_->read(key, 1000, call_), "of " + key);
    }
    const auto page = store_->list("o/", 0, {}, call_);
    ASSERT_TRUE(page);
    std::set<std::string> listed;
    for (const ObjectInfo& o : page->objects) listed.insert(o.key);
    EXPECT_EQ(listed, std::set<std::string>(keys.begin(), keys.end()));
    const auto failures = store_->remove(keys, call_);
    ASSERT_TRUE(failures) << failures.error().what;
    EXPECT_TRUE(failures->empty());
    EXPECT_TRUE(store_->list("o/", 0, {}, call_)->objects.empty());
}

TEST_F(RadosGw, Multipart) {
    const std::string body = test_bytes(1, 3 * kPart + 12345);
    for (const auto algorithm : {ChecksumAlgorithm::crc32c, ChecksumAlgorithm::crc64nvme}) {
        const auto upload = store_->create_upload("m/key +", algorithm, call_);
        ASSERT_TRUE(upload) << upload.error().what;
        std::vector<Part> parts;
        for (std::size_t at = 0; at < body.size(); at += kPart) {
            const std::string_view piece = std::string_view(body).substr(at, kPart);
            const auto part = store_->put_part(*upload, static_cast<int>(parts.size()) + 1, piece,
                                               checksum_of(algorithm, piece), call_);
            ASSERT_TRUE(part) << part.error().what;
            parts.push_back(*part);
        }
        const auto open = store_->list_uploads("m/", {}, call_);
        ASSERT_TRUE(open);
        EXPECT_EQ(open->uploads.size(), 1U);
        const auto listed = store_->list_parts(*upload, {}, call_);
        ASSERT_TRUE(listed);
        ASSERT_EQ(listed->parts.size(), parts.size());
        const Checksum whole = checksum_of(algorithm, body);
        const CompleteOptions options{.if_absent = false, .checksum = whole};
        const auto done = store_->complete_upload(*upload, parts, options, call_);
        ASSERT_TRUE(done) << done.error().what << done.error().code;
        EXPECT_TRUE(store_->complete_upload(*upload, parts, options, call_));  // a lost answer
        std::string into(body.size(), ' ');
        EXPECT_TRUE(store_->get("m/key +", 0, into, whole, call_));
        EXPECT_EQ(into, body);
    }
    const auto upload = store_->create_upload("m/left", ChecksumAlgorithm::crc32c, call_);
    ASSERT_TRUE(upload);
    EXPECT_TRUE(store_->abort_upload(*upload, call_));
    EXPECT_TRUE(store_->list_uploads("m/", {}, call_)->uploads.empty());
}

TEST_F(RadosGw, IfAbsent) {
    const PutOptions once{.if_absent = true, .checksum = {}, .content_type = {}};
    ASSERT_TRUE(store_->put("c/k", "first", once, call_));
    const auto second = store_->put("c/k", "second", once, call_);
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().fault, StoreFault::precondition_failed);
    EXPECT_EQ(store_->read("c/k", 10, call_), "first");
}

TEST_F(RadosGw, ClockAnHourOff) {
    for (const auto off : {1h, -1h}) {
        settings_.now = [off] { return sys::wall_time() + off; };
        open();
        const auto put = store_->put("t/k", "x", {}, call_);
        EXPECT_TRUE(put) << put.error().what << put.error().code;
        open();
        EXPECT_TRUE(store_->head("t/k", call_));  // an answer without a body
    }
}

TEST_F(RadosGw, WrongSecretAndWhatIsNotThere) {
    EXPECT_EQ(store_->head("none", call_).error().fault, StoreFault::not_found);
    EXPECT_EQ(store_->list_parts({"none", "none"}, {}, call_).error().fault,
              StoreFault::no_such_upload);
    secret_ = "wrong";
    open();
    EXPECT_EQ(store_->put("k", "x", {}, call_).error().fault, StoreFault::credentials);
    secret_ = "radosecret";
    settings_.bucket = "not-there";
    open();
    EXPECT_EQ(store_->list("", 0, {}, call_).error().fault, StoreFault::no_such_bucket);
}

}  // namespace
}  // namespace trainyard::aws
