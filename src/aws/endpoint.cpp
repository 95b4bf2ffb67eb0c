#include "endpoint.hpp"

#include <algorithm>

#include "encoding.hpp"
#include "trainyard/base/text.hpp"

namespace trainyard::aws {
namespace {

bool is_lower_or_digit(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }

bool is_virtual_host(const Endpoint& endpoint, Addressing addressing, const std::string& bucket) {
    if (addressing != Addressing::automatic) return addressing == Addressing::virtual_host;
    // A dot in the bucket's name would not match the certificate of "*.s3.amazonaws.com".
    return endpoint.is_aws && bucket.find('.') == std::string::npos;
}

}  // namespace

std::optional<Endpoint> parse_endpoint(std::string_view url) {
    const std::size_t colon = url.find("://");
    if (colon == std::string_view::npos) return std::nullopt;
    Endpoint endpoint;
    endpoint.scheme = to_lower(url.substr(0, colon));
    if (endpoint.scheme != "http" && endpoint.scheme != "https") return std::nullopt;
    const std::string_view rest = url.substr(colon + 3);
    const std::size_t slash = std::min(rest.find('/'), rest.size());
    endpoint.host = to_lower(rest.substr(0, slash));
    endpoint.base = rest.substr(slash);
    while (endpoint.base.ends_with('/')) endpoint.base.pop_back();
    const bool has_odd = std::any_of(url.begin(), url.end(), [](char c) {
        return static_cast<unsigned char>(c) <= ' ' || c == '@' || c == '?' || c == '#' ||
               c == '\\';
    });
    if (has_odd || endpoint.host.empty() || endpoint.host.starts_with(':')) return std::nullopt;
    const std::string_view own_port = endpoint.scheme == "http" ? ":80" : ":443";
    if (endpoint.host.ends_with(own_port)) {
        endpoint.host.resize(endpoint.host.size() - own_port.size());
    }
    endpoint.is_aws =
        endpoint.host.ends_with(".amazonaws.com") || endpoint.host.ends_with(".amazonaws.com.cn");
    return endpoint;
}

Endpoint aws_endpoint(std::string_view region) {
    const std::string_view domain =
        region.starts_with("cn-") ? "amazonaws.com.cn" : "amazonaws.com";
    return {"https", "s3." + std::string(region) + "." + std::string(domain), "", true};
}

bool is_region_name(std::string_view text) {
    return !text.empty() && text.size() <= 40 && std::all_of(text.begin(), text.end(), [](char c) {
        return is_lower_or_digit(c) || c == '-';
    });
}

bool is_bucket_name(std::string_view text) {
    if (text.size() < 3 || text.size() > 63) return false;
    if (!is_lower_or_digit(text.front()) || !is_lower_or_digit(text.back())) return false;
    return text.find("..") == std::string_view::npos &&
           std::all_of(text.begin(), text.end(),
                       [](char c) { return is_lower_or_digit(c) || c == '-' || c == '.'; });
}

Address address_of(const Endpoint& endpoint, Addressing addressing, const std::string& bucket,
                   const std::string& key, const std::string& query) {
    Address address;
    if (is_virtual_host(endpoint, addressing, bucket)) {
        address.host = bucket + "." + endpoint.host;
        address.path = endpoint.base + "/" + key;
    } else {
        address.host = endpoint.host;
        address.path = endpoint.base + "/" + bucket + (key.empty() ? "" : "/" + key);
    }
    address.url = endpoint.scheme + "://" + address.host + uri_encode(address.path, Slash::keep);
    if (!query.empty()) address.url += "?" + query;
    return address;
}

}  // namespace trainyard::aws
