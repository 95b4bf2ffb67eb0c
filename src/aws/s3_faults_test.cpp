// The client in front of a server that fails on purpose.

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <thread>

#include "test_bucket.hpp"
#include "trainyard/aws/credential_chain.hpp"

namespace trainyard::aws {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kPart = std::size_t{32} << 10U;
constexpr ChecksumAlgorithm kSum = ChecksumAlgorithm::crc64nvme;

/// Uploads by parts from several threads, reads it back by ranges; "" or what went wrong.
std::string round_trip(ObjectStore& store, const std::string& key, const std::string& body,
                       const Call& call) {
    const auto upload = store.create_upload(key, kSum, call);
    if (!upload) return upload.error().what + " " + upload.error().code;
    const int count = static_cast<int>((body.size() + kPart - 1) / kPart);
    std::vector<Part> parts(static_cast<std::size_t>(count));
    std::atomic<int> next = 0;
    std::atomic<int> failed = 0;
    std::mutex mutex;
    std::string why;
    const auto note = [&](const auto& result) {
        if (result) return;
        const std::scoped_lock lock(mutex);
        ++failed;
        why = format(to_error(result.error()).diagnostics);
    };
    const auto for_each_part = [&](auto&& work) {
        next = 0;
        std::vector<std::jthread> threads;
        for (int t = 0; t < 8; ++t) {
            threads.emplace_back([&] {
                for (int i = next++; i < count; i = next++) work(static_cast<std::size_t>(i));
            });
        }
    };
    for_each_part([&](std::size_t i) {
        const std::string_view piece = std::string_view(body).substr(i * kPart, kPart);
        const auto part =
            store.put_part(*upload, static_cast<int>(i) + 1, piece, checksum_of(kSum, piece), call);
        if (part) parts[i] = *part;
        note(part);
    });
    if (failed != 0) return why;
    const Checksum whole = checksum_of(kSum, body);
    const auto done =
        store.complete_upload(*upload, parts, {.if_absent = true, .checksum = whole}, call);
    if (!done) return done.error().what + " " + done.error().code;
    std::string into(body.size(), ' ');
    for_each_part([&](std::size_t i) {
        const std::span<char> piece =
            std::span(into).subspan(i * kPart, std::min(kPart, into.size() - i * kPart));
        note(store.get(key, i * kPart, piece,
                       checksum_of(kSum, std::string_view(body).substr(i * kPart, kPart)), call));
    });
    if (failed != 0) return why;
    return into == body ? "" : "wrong bytes";
}

std::unique_ptr<TestBucket> bucket(std::vector<std::string> options) {
    options.insert(options.end(), {"--min-part", std::to_string(kPart)});
    auto made = std::make_unique<TestBucket>(options);
    if (made->server.port() != 0) made->open();
    return made;
}

// Everything but the stall, which costs seconds by its nature and has a test of its own.
constexpr const char* kQuickFaults =
    "slowdown,error500,error200,reset_before,reset_after,truncate,flip,html,bad_digest,expired,"
    "redirect";

TEST(S3Faults, ThirtyPercentFailAndNoByteIsWrong) {
    for (const char* seed : {"1", "2", "3"}) {
        const auto b = bucket({"--fail", "0.3", "--seed", seed, "--faults", kQuickFaults});
        if (b->server.port() == 0) GTEST_SKIP() << "no python3";
        for (int i = 0; i < 3; ++i) {
            const std::string key = "k " + std::to_string(i);
            const std::string body = test_bytes(static_cast<std::uint64_t>(i), 40 * kPart + 7);
            EXPECT_EQ(round_trip(*b->store, key, body, b->call), "") << seed << key;
        }
        EXPECT_GT(b->stat("faults"), 60);  // 3 * 82 requests, 30 % of them and of the retries
        EXPECT_EQ(b->stat("objects"), 3);
    }
}

class EachFault : public testing::TestWithParam<const char*> {};

TEST_P(EachFault, AThirdOfTheTime) {
    const auto b = bucket({"--fail", "0.34", "--faults", GetParam()});
    if (b->server.port() == 0) GTEST_SKIP() << "no python3";
    b->settings.attempts = 25;
    b->settings.longest_backoff = 100ms;
    b->open();
    EXPECT_EQ(round_trip(*b->store, "k", test_bytes(9, 12 * kPart), b->call), "");
    const PutOptions once{.if_absent = true, .checksum = {}, .content_type = {}};
    for (int i = 0; i < 8; ++i) {
        const std::string key = "m/" + std::to_string(i);
        const auto put = b->store->put(key, "manifest", once, b->call);
        EXPECT_TRUE(put) << put.error().what << put.error().code;
        const auto again = b->store->put(key, "manifest", once, b->call);
        EXPECT_FALSE(again);
        EXPECT_EQ(b->store->read(key, 100, b->call), "manifest");
    }
    for (int i = 0; i < 8; ++i) {
        EXPECT_EQ(b->store->list("m/", 0, {}, b->call)->objects.size(), 8U);
    }
    EXPECT_TRUE(b->store->remove({"m/0", "m/1", "m/2"}, b->call)->empty());
    EXPECT_EQ(b->stat("objects"), 6);
    EXPECT_GT(b->stat((std::string("fault.") + GetParam()).c_str()), 0);
}

INSTANTIATE_TEST_SUITE_P(S3Faults, EachFault,
                         testing::Values("slowdown", "error500", "error200", "reset_before",
                                         "reset_after", "truncate", "flip", "html", "bad_digest",
                                         "expired", "redirect"),
                         [](const auto& test) { return std::string(test.param); });

TEST(S3Faults, StalledServerIsGivenUpAndAskedAgain) {
    const auto b = bucket({"--fail", "0.1", "--faults", "stall", "--seed", "4"});
    if (b->server.port() == 0) GTEST_SKIP() << "no python3";
    b->settings.stall = 1s;
    b->open();
    EXPECT_EQ(round_trip(*b->store, "k", test_bytes(9, 12 * kPart), b->call), "");
    EXPECT_GT(b->stat("fault.stall"), 0);
}

TEST(S3Faults, ServerThatNeverRecoversEndsInAClearError) {
    const auto b = bucket({"--fail", "1", "--faults", "slowdown"});
    if (b->server.port() == 0) GTEST_SKIP() << "no python3";
    b->settings.attempts = 4;
    b->open();
    const auto done = b->store->put("k", "x", {}, b->call);
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().fault, StoreFault::throttled);
    EXPECT_EQ(done.error().attempts, 4);
    EXPECT_EQ(done.error().http_status, 503);
    EXPECT_EQ(done.error().request_id, "TEST0123");
    EXPECT_FALSE(done.error().fix.empty());
}

TEST(S3Faults, DeadlineAndStopBoundTheRetries) {
    const auto b = bucket({"--fail", "1", "--faults", "error500"});
    if (b->server.port() == 0) GTEST_SKIP() << "no python3";
    b->settings.attempts = 1'000'000;
    b->open();
    const auto before = StoreClock::now();
    Call call;
    call.deadline = before + 500ms;
    EXPECT_FALSE(b->store->put("k", "x", {}, call));
    EXPECT_LT(StoreClock::now() - before, 5s);
    std::stop_source source;
    Call stopped;
    stopped.stop = source.get_token();
    const std::jthread stopper([&] {
        std::this_thread::sleep_for(200ms);
        source.request_stop();
    });
    const auto done = b->store->put("k", "x", {}, stopped);
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().fault, StoreFault::stopped);
}

TEST(S3Faults, ClockAnHourOffCostsOneRequest) {
    for (const char* skew : {"3600", "-3600"}) {
        const auto b = bucket({"--skew", skew});
        if (b->server.port() == 0) GTEST_SKIP() << "no python3";
        EXPECT_TRUE(b->store->put("k", "x", {}, b->call));
        EXPECT_EQ(b->stat("requests"), 3);  // refused, done, and the statistics
        EXPECT_EQ(round_trip(*b->store, "m", test_bytes(1, 3 * kPart), b->call), "");
        EXPECT_EQ(b->stat("RequestTimeTooSkewed"), 1);
        b->open();  // a new client whose first request has no body in its answer
        EXPECT_EQ(b->store->head("k", b->call)->size, 1U);
    }
}

TEST(S3Faults, BucketInAnotherRegion) {
    for (const bool by_redirect : {false, true}) {
        std::vector<std::string> options = {"--region", "eu-west-1"};
        if (by_redirect) options.emplace_back("--region-by-redirect");
        const auto b = bucket(options);
        if (b->server.port() == 0) GTEST_SKIP() << "no python3";
        EXPECT_EQ(round_trip(*b->store, "m", test_bytes(1, 3 * kPart), b->call), "");
        EXPECT_EQ(b->stat("PermanentRedirect") + b->stat("AuthorizationHeaderMalformed"), 1);
    }
}

TEST(S3Faults, TokensThatExpireEveryTwoSeconds) {
    const auto b = bucket({"--token-life", "2", "--fail", "0.1", "--faults", "reset_after"});
    if (b->server.port() == 0) GTEST_SKIP() << "no python3";
    ChainSettings chain;
    chain.environment = [&](const char* name) -> std::optional<std::string> {
        if (std::string_view(name) != "AWS_CONTAINER_CREDENTIALS_FULL_URI") return std::nullopt;
        return b->server.url() + "/-/credentials";
    };
    b->credentials = credential_chain(chain);
    b->open();
    const auto begin = StoreClock::now();
    int trips = 0;
    while (StoreClock::now() - begin < 7s) {
        const std::string key = "k" + std::to_string(trips++);
        ASSERT_EQ(round_trip(*b->store, key, test_bytes(1, 20 * kPart), b->call), "");
    }
    EXPECT_GE(b->stat("credentials"), 4);  // seven seconds, two each
    EXPECT_EQ(b->stat("objects"), trips);
}

TEST(S3Faults, WrongSecretIsTheCredentialsFault) {
    const auto b = bucket({});
    if (b->server.port() == 0) GTEST_SKIP() << "no python3";
    b->credentials = fixed_credentials({FaultServer::kAccessKey, "another secret", {}, {}});
    b->open();
    const auto done = b->store->put("k", "x", {}, b->call);
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().fault, StoreFault::credentials);
    const std::string text = format(to_error(done.error()).diagnostics);
    EXPECT_EQ(text.find("another secret"), std::string::npos) << text;
    b->credentials = fixed_credentials({"AKIAUNKNOWN", "x", {}, {}});
    b->open();
    EXPECT_EQ(b->store->put("k", "x", {}, b->call).error().fault, StoreFault::credentials);
}

/// A login that has run out: asking for ever would only hide that.
class NoLogin final : public CredentialSource {
  public:
    Result<Credentials> get(const std::stop_token& /*stop*/) override {
        ++asked;
        return Error{ErrorKind::world, {{Severity::error, {}, "the login is over", "", "log in"}}};
    }
    void refuse(const Credentials& /*credentials*/) override {}
    std::atomic<int> asked = 0;
};

TEST(S3Faults, LoginThatIsOverIsToldSoon) {
    S3Settings settings;
    settings.bucket = "bkt1";
    settings.endpoint = "http://127.0.0.1:1";
    settings.backoff = 1ms;
    settings.attempts = 100;
    const auto login = std::make_shared<NoLogin>();
    const auto opened = open_s3(settings, login);
    ASSERT_TRUE(opened);
    const auto done = (*opened)->head("k", {});
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().fault, StoreFault::credentials);
    EXPECT_EQ(done.error().fix, "log in");
    EXPECT_NE(done.error().what.find("the login is over"), std::string::npos);
    EXPECT_LE(login->asked, 8);
}

TEST(S3Faults, NobodyListens) {
    S3Settings settings;
    settings.bucket = "bkt1";
    settings.endpoint = "http://127.0.0.1:1";
    settings.attempts = 3;
    settings.backoff = 1ms;
    const auto opened = open_s3(settings, fixed_credentials({"a", "b", {}, {}}));
    ASSERT_TRUE(opened);
    const auto done = (*opened)->head("k", {});
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().fault, StoreFault::transport);
    EXPECT_EQ(done.error().attempts, 3);
}

}  // namespace
}  // namespace trainyard::aws
