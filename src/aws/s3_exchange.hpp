#pragma once
// One request to one bucket and the answer to it, through all retries: the place where region,
// clock and credentials are corrected.

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "endpoint.hpp"
#include "request_gate.hpp"
#include "s3_answer.hpp"
#include "sigv4.hpp"
#include "trainyard/aws/s3.hpp"
#include "trainyard/base/random.hpp"
#include "trainyard/sys/http.hpp"

namespace trainyard::aws {

/// Why a 2xx answer is not taken.
struct Flaw {
    std::string code;  ///< of the error inside, if there is one
    StoreFault fault = StoreFault::transport;
    std::string what;
};

struct S3Request {
    std::string operation;  ///< for messages: "put"
    std::string method;
    std::string key;  ///< empty: the bucket itself
    Query query = {};
    std::vector<sys::HttpHeader> headers = {};
    std::string_view body = {};
    std::span<char> into = {};
    std::size_t max_body = std::size_t{16} << 20U;
    bool may_be_silent = false;  ///< the server works for minutes before it answers
    std::function<std::optional<Flaw>(const sys::HttpResponse&)> check = {};
};

class S3Exchange {
  public:
    S3Exchange(S3Settings settings, std::shared_ptr<CredentialSource> credentials,
               const Endpoint& endpoint);

    StoreResult<sys::HttpResponse> send(const S3Request& request, const Call& call);
    std::uint64_t random();
    const S3Settings& settings() const { return settings_; }

  private:
    /// Where requests go now; replaced as a whole by a redirect.
    struct Target {
        Endpoint endpoint;
        std::shared_ptr<Signer> signer;
    };
    struct Attempt;  ///< state of one call over its attempts

    void prepare(const S3Request& request, const Call& call, Attempt& a,
                 sys::HttpRequest& http) const;
    void run_once(const S3Request& request, const Call& call, Attempt& a);
    void read_answer(const S3Request& request, const sys::HttpResponse& response, Attempt& a) const;
    void judge_headless(const sys::HttpResponse& response, Attempt& a) const;
    /// Whether another attempt makes sense; waits before it.
    bool recover(const Call& call, Attempt& a);
    bool redirect(const Attempt& a);
    bool correct_clock(const Attempt& a);
    bool back_off(const Call& call, Attempt& a);
    StoreError failure(const S3Request& request, const Attempt& a) const;
    Target target() const;

    S3Settings settings_;
    std::shared_ptr<CredentialSource> credentials_;
    sys::HttpClient http_;
    RequestGate gate_;
    bool is_own_endpoint_;  ///< given by the user: a redirect changes the region only
    mutable std::mutex mutex_;
    Target target_;                          // under mutex_
    Random random_;                          // under mutex_
    std::atomic<std::int64_t> skew_ms_ = 0;  // server - local
};

}  // namespace trainyard::aws
