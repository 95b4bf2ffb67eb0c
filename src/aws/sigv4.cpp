#include "sigv4.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "digest.hpp"
#include "encoding.hpp"
#include "trainyard/base/text.hpp"

namespace trainyard::aws {
namespace {

/// Trimmed, each run of spaces and tabs as one space.
std::string canonical_value(std::string_view value) {
    std::string out;
    for (const char c : trim(value)) {
        const bool is_space = c == ' ' || c == '\t';
        if (is_space && out.ends_with(' ')) continue;
        out += is_space ? ' ' : c;
    }
    return out;
}

struct CanonicalHeaders {
    std::string lines;
    std::string names;  ///< separated by ";"
};

CanonicalHeaders canonical_headers(const std::vector<sys::HttpHeader>& headers) {
    std::vector<std::pair<std::string, std::string>> sorted;
    sorted.reserve(headers.size());
    for (const sys::HttpHeader& h : headers) {
        sorted.emplace_back(to_lower(h.name), canonical_value(h.value));
    }
    // Stable: repeated headers are merged in the order in which they are sent.
    std::stable_sort(sorted.begin(), sorted.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    CanonicalHeaders out;
    for (std::size_t i = 0; i < sorted.size(); ++i) {
        const auto& [name, value] = sorted[i];
        if (i != 0 && sorted[i - 1].first == name) {
            out.lines.back() = ',';
        } else {
            out.lines += name + ":";
            out.names += (out.names.empty() ? "" : ";") + name;
        }
        out.lines += value + "\n";
    }
    return out;
}

std::string canonical_request(const RequestToSign& r, const CanonicalHeaders& headers) {
    return fmt::format("{}\n{}\n{}\n{}\n{}\n{}", r.method, uri_encode(r.path, Slash::keep),
                       canonical_query(r.query), headers.lines, headers.names, r.payload_hash);
}

}  // namespace

std::string canonical_query(const Query& query) {
    std::vector<std::pair<std::string, std::string>> encoded;
    encoded.reserve(query.size());
    for (const auto& [name, value] : query) {
        encoded.emplace_back(uri_encode(name, Slash::encode), uri_encode(value, Slash::encode));
    }
    std::sort(encoded.begin(), encoded.end());
    std::string out;
    for (const auto& [name, value] : encoded) {
        out.append(out.empty() ? "" : "&").append(name).append("=").append(value);
    }
    return out;
}

std::string amz_time(SigningTime time) {
    const auto day = std::chrono::floor<std::chrono::days>(time);
    const std::chrono::year_month_day date(day);
    const std::chrono::hh_mm_ss clock(time - day);
    return fmt::format("{:04}{:02}{:02}T{:02}{:02}{:02}Z", static_cast<int>(date.year()),
                       static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                       clock.hours().count(), clock.minutes().count(), clock.seconds().count());
}

std::string canonical_request(const RequestToSign& request) {
    return canonical_request(request, canonical_headers(request.headers));
}

std::string Signer::key_for(const std::string& date, const std::string& secret) {
    const std::scoped_lock lock(mutex_);
    if (date != date_ || secret != secret_) {
        std::string key = hmac_sha256("AWS4" + secret, date);
        key = hmac_sha256(key, region_);
        key = hmac_sha256(key, service_);
        key_ = hmac_sha256(key, "aws4_request");
        date_ = date;
        secret_ = secret;
    }
    return key_;
}

void Signer::sign(const RequestToSign& request, const Credentials& credentials, SigningTime time) {
    const std::string stamp = amz_time(time);
    const std::string date = stamp.substr(0, 8);
    request.headers.push_back({"x-amz-date", stamp});
    request.headers.push_back({"x-amz-content-sha256", std::string(request.payload_hash)});
    if (!credentials.session_token.empty()) {
        request.headers.push_back({"x-amz-security-token", credentials.session_token});
    }
    const CanonicalHeaders headers = canonical_headers(request.headers);
    const std::string scope = fmt::format("{}/{}/{}/aws4_request", date, region_, service_);
    const std::string to_sign = fmt::format("AWS4-HMAC-SHA256\n{}\n{}\n{}", stamp, scope,
                                            hex(sha256(canonical_request(request, headers))));
    const std::string signature = hex(hmac_sha256(key_for(date, credentials.secret_key), to_sign));
    request.headers.push_back(
        {"Authorization",
         fmt::format("AWS4-HMAC-SHA256 Credential={}/{}, SignedHeaders={}, Signature={}",
                     credentials.access_key, scope, headers.names, signature)});
}

}  // namespace trainyard::aws
