#pragma once
// HTTP/1.1 over libcurl: connections are kept alive and shared by all callers of one client, every
// transfer has a limit on its slowness and on its whole time, redirects are never followed (a
// signed request must be signed again), the path is sent as given. Nothing is logged.
//
// Proxies come from https_proxy, http_proxy, all_proxy and no_proxy as libcurl reads them.
// Certificates: AWS_CA_BUNDLE, CURL_CA_BUNDLE or SSL_CERT_FILE if set, else the system's.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

namespace trainyard::sys {

using HttpClock = std::chrono::steady_clock;

struct HttpHeader {
    std::string name;
    std::string value;
};

struct HttpRequest {
    std::string method;  ///< "GET", "HEAD", "PUT", "POST", "DELETE"
    std::string url;     ///< as sent; whoever signs it has encoded it
    std::vector<HttpHeader> headers = {};
    /// Sent with its length; must outlive the call. Ignored for GET and HEAD.
    std::string_view body = {};
    /// Wait for "100 Continue" (at most a second) before the body is sent: a refusal then costs a
    /// round trip instead of the body.
    bool expect_continue = false;

    /// Where the body of a 2xx answer goes. Empty: into HttpResponse::body.
    std::span<char> into = {};
    /// Largest body that HttpResponse::body may take, in bytes.
    std::size_t max_body = std::size_t{16} << 20U;

    std::optional<HttpClock::time_point> deadline = {};  ///< of the whole transfer
    std::chrono::milliseconds connect_timeout{10'000};
    /// Fewer than `low_speed` bytes a second for this long ends the transfer; 0: no such limit.
    std::chrono::seconds low_speed_time{30};
    long low_speed = 1024;
    bool use_proxy = true;
    std::stop_token stop = {};
};

struct HttpResponse {
    int status = 0;
    std::vector<HttpHeader> headers;  ///< names in lower case
    std::string body;
    std::size_t received = 0;  ///< bytes written to HttpRequest::into

    /// The first header of that name (lower case); nullopt if there is none.
    std::optional<std::string_view> header(std::string_view name) const;
};

enum class HttpFault {
    resolve,    ///< no such host
    connect,    ///< nobody listens, or unreachable
    tls,        ///< certificate or handshake
    broken,     ///< reset, cut short, or no HTTP
    timed_out,  ///< deadline, connect timeout or too slow
    too_large,  ///< the answer does not fit where it should go
    stopped,
    refused,  ///< libcurl does not take the request (a malformed URL)
};

struct HttpError {
    HttpFault fault = HttpFault::broken;
    std::string what;  ///< libcurl's words: host and port, never a header
    int status = 0;    ///< if the status line had come before it broke
};

struct HttpSettings {
    int threads = 1;           ///< each runs its own connections
    int max_connections = 64;  ///< kept alive, for each thread
    std::optional<std::string> ca_file;
};

class HttpClient {
  public:
    explicit HttpClient(const HttpSettings& settings = {});
    HttpClient(const HttpClient&) = delete;
    HttpClient& operator=(const HttpClient&) = delete;
    HttpClient(HttpClient&&) = delete;
    HttpClient& operator=(HttpClient&&) = delete;
    ~HttpClient();  ///< no call may be running

    /// Blocks; from any number of threads.
    tl::expected<HttpResponse, HttpError> perform(const HttpRequest& request);

  private:
    class Loop;
    std::vector<std::unique_ptr<Loop>> loops_;
    std::uint32_t next_ = 0;
};

}  // namespace trainyard::sys
