#pragma once
// AWS Signature Version 4 in the Authorization header, as S3 checks it
// (https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html):
//
// - path: each byte that is not unreserved is %XX once, "/" stays, nothing is normalised
//   ("//", "/./" and "/../" are parts of a key);
// - query: names and values are encoded, sorted by encoded name, then value; "uploads" is
// "uploads=";
// - headers: all that are given are signed; names in lower case and sorted, values trimmed with
// inner
//   spaces collapsed, repeated names merged with ",";
// - the time is given by the caller: sign when the request is sent, not when it is queued.
//
// The service "s3" encodes the path once. Others would encode it twice; those used here (STS) have
// the path "/", where both are the same.

#include <chrono>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "trainyard/aws/credentials.hpp"
#include "trainyard/sys/http.hpp"

namespace trainyard::aws {

using Query = std::vector<std::pair<std::string, std::string>>;  ///< as meant, not encoded
using SigningTime = std::chrono::sys_time<std::chrono::seconds>;

inline constexpr std::string_view kUnsignedPayload = "UNSIGNED-PAYLOAD";

/// Sorted and encoded: what goes into the URL, and what is signed. Empty for no query.
std::string canonical_query(const Query& query);
/// "20130524T000000Z".
std::string amz_time(SigningTime time);

struct RequestToSign {
    std::string_view method;
    std::string_view path;  ///< as meant, not encoded; begins with "/"
    const Query& query;
    /// Host included, as it will be sent (with the port unless it is the scheme's own). The signer
    /// adds x-amz-date, x-amz-content-sha256, x-amz-security-token and Authorization, in this
    /// order.
    std::vector<sys::HttpHeader>& headers;
    std::string_view payload_hash;  ///< lower-case hex of SHA-256, or kUnsignedPayload
};

/// For tests and messages: what is hashed. `headers` without Authorization.
std::string canonical_request(const RequestToSign& request);

class Signer {
  public:
    Signer(std::string region, std::string service)
        : region_(std::move(region)), service_(std::move(service)) {}

    /// From any thread.
    void sign(const RequestToSign& request, const Credentials& credentials, SigningTime time);
    const std::string& region() const { return region_; }

  private:
    std::string key_for(const std::string& date, const std::string& secret);

    std::string region_;
    std::string service_;
    std::mutex mutex_;  // of all below: the key of the day, derived once
    std::string date_;
    std::string secret_;
    std::string key_;
};

}  // namespace trainyard::aws
