#pragma once
// S3, or a server that speaks its protocol, as an ObjectStore.
//
// A request is signed when it is sent, with the credentials of that moment and the server's clock.
// Retried, with exponential backoff and full jitter: throttling, 5xx, broken connections, damaged
// bytes, answers that are not what S3 answers (an error inside 200). At once: another region, a
// skewed clock, refused credentials that were renewed. Everything else is the caller's business.
//
// Payloads up to kSignedPayload are signed (SHA-256). Larger ones are UNSIGNED-PAYLOAD with a
// signed checksum header, since SHA-256 would halve the rate: over https that is what AWS
// recommends, over plain http it finds damage but not malice (sign_all_payloads).

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "trainyard/aws/credentials.hpp"
#include "trainyard/aws/object_store.hpp"
#include "trainyard/base/result.hpp"
#include "trainyard/sys/clock.hpp"

namespace trainyard::aws {

enum class Addressing {
    automatic,     ///< virtual host on AWS, unless the name has a dot; path on other endpoints
    path,          ///< https://host/bucket/key
    virtual_host,  ///< https://bucket.host/key
};

inline constexpr std::size_t kSignedPayload = std::size_t{1} << 20U;

struct S3Settings {
    std::string bucket;
    std::string region = "us-east-1";
    std::string endpoint;  ///< "http://127.0.0.1:9000"; empty: AWS's own of the region
    Addressing addressing = Addressing::automatic;
    /// Off for stores that refuse headers they do not know; bytes are then checked on reading only.
    bool send_checksums = true;
    bool sign_all_payloads = false;
    /// Larger bodies wait for "100 Continue", so that a refusal does not cost them.
    std::size_t continue_from = std::size_t{1} << 20U;

    int attempts = 12;                                  ///< of one call
    std::chrono::milliseconds backoff{50};              ///< mean of twice the first wait
    std::chrono::milliseconds throttled_backoff{250};   ///< the same after SlowDown
    std::chrono::milliseconds longest_backoff{20'000};  ///< no wait is longer
    std::chrono::milliseconds connect_timeout{5'000};
    std::chrono::seconds stall{30};  ///< an attempt that moves under 1 KiB/s this long is given up
    std::chrono::seconds attempt_limit{60};                  ///< plus the body at:
    std::uint64_t slowest_rate = std::uint64_t{256} << 10U;  ///< bytes/s

    int http_threads = 0;   ///< 0: one for each four cores, at most 16
    int concurrency = 256;  ///< most requests at a time; fewer after SlowDown
    std::function<sys::WallTime()> now = sys::wall_time;
    std::uint64_t seed = 0;  ///< of the jitter; 0: from the system
};

/// Name rules of S3: 3 to 63 of a-z, 0-9, "-", "."; a bad name, region or endpoint is bad_input.
Result<std::unique_ptr<ObjectStore>> open_s3(S3Settings settings,
                                             std::shared_ptr<CredentialSource> credentials);

}  // namespace trainyard::aws
