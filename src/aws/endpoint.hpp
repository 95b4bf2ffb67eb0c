#pragma once
// Where a bucket is: scheme, host and how the bucket is named in the address.

#include <optional>
#include <string>
#include <string_view>

#include "trainyard/aws/s3.hpp"

namespace trainyard::aws {

struct Endpoint {
    std::string scheme;  ///< "http", "https"
    std::string host;    ///< as in the Host header: with the port unless it is the scheme's own
    std::string base;    ///< path before everything, "" or "/x"
    bool is_aws = false;
    bool operator==(const Endpoint&) const = default;
};

/// "http://host:port/base"; nullopt if it is no such address or carries a user name.
std::optional<Endpoint> parse_endpoint(std::string_view url);
/// "https://s3.eu-west-1.amazonaws.com", with ".cn" for China.
Endpoint aws_endpoint(std::string_view region);
bool is_region_name(std::string_view text);
bool is_bucket_name(std::string_view text);

/// One resource: what the signature covers and what is sent.
struct Address {
    std::string host;
    std::string path;  ///< as meant, not encoded
    std::string url;   ///< encoded, with the query
};
/// `key` empty: the bucket itself. `query` encoded.
Address address_of(const Endpoint& endpoint, Addressing addressing, const std::string& bucket,
                   const std::string& key, const std::string& query);

}  // namespace trainyard::aws
