#pragma once
// A store in front of a fault server, for tests.

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "../../tests/support/fault_server.hpp"
#include "trainyard/aws/s3.hpp"
#include "trainyard/base/random.hpp"
#include "trainyard/doc/node.hpp"
#include "trainyard/sys/http.hpp"

namespace trainyard::aws {

inline std::string test_bytes(std::uint64_t seed, std::size_t size) {
    Random random(seed, 0);
    std::string bytes(size, '\0');
    for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<char>(random.next() >> 56U);
    return bytes;
}

struct TestBucket {
    explicit TestBucket(const std::vector<std::string>& options = {}) : server(options) {
        settings.bucket = "bkt1";
        settings.endpoint = server.url();
        settings.seed = 1;
        settings.stall = std::chrono::seconds(2);  // the server's stall takes four
        settings.http_threads = 1;
        settings.backoff = std::chrono::milliseconds(10);
        settings.throttled_backoff = std::chrono::milliseconds(20);
        credentials = fixed_credentials({FaultServer::kAccessKey, FaultServer::kSecretKey, {}, {}});
    }
    void open() {
        Result<std::unique_ptr<ObjectStore>> opened = open_s3(settings, credentials);
        ASSERT_TRUE(opened) << format(opened.error().diagnostics);
        store = *std::move(opened);
        call.deadline = StoreClock::now() + std::chrono::seconds(120);
    }
    /// A number of the server's statistics; 0 if it has counted none.
    double stat(const char* name) const {
        sys::HttpClient client;
        const auto answer = client.perform({.method = "GET", .url = server.url() + "/-/stats"});
        if (!answer) return -1;
        const Result<doc::Node> stats = doc::parse_json(answer->body, "stats");
        const doc::Node* value = stats ? stats->find(name) : nullptr;
        return value == nullptr ? 0 : value->as_number();
    }

    FaultServer server;
    S3Settings settings;
    std::shared_ptr<CredentialSource> credentials;
    std::unique_ptr<ObjectStore> store;
    Call call;
};

}  // namespace trainyard::aws
