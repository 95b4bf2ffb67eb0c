// The reading, listing and removing half of S3Store.

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "digest.hpp"
#include "encoding.hpp"
#include "s3_headers.hpp"
#include "s3_store.hpp"
#include "s3_xml.hpp"
#include "trainyard/base/text.hpp"

namespace trainyard::aws {
namespace {

Flaw damaged(std::string what) { return {{}, StoreFault::checksum, std::move(what)}; }

/// "bytes 0-9/100" begins at this offset.
bool begins_at(std::string_view content_range, std::uint64_t offset) {
    return content_range.starts_with("bytes " + std::to_string(offset) + "-");
}

}  // namespace

StoreResult<std::monostate> S3Store::get(const std::string& key, std::uint64_t offset,
                                         std::span<char> into,
                                         const std::optional<Checksum>& expected,
                                         const Call& call) {
    if (into.empty()) {  // there is no range of no bytes
        StoreResult<ObjectInfo> there = head(key, call);
        if (!there) return std::move(there).error();
        return std::monostate{};
    }
    if (auto refused = refuse_key("get", key)) return *std::move(refused);
    S3Request r{.operation = "get", .method = "GET", .key = key};
    r.headers.push_back({"Range", fmt::format("bytes={}-{}", offset, offset + into.size() - 1)});
    r.into = into;
    r.check = [&](const sys::HttpResponse& response) -> std::optional<Flaw> {
        const bool is_whole = response.status == 200 && offset == 0;
        const bool is_range = response.status == 206 &&
                              begins_at(response.header("content-range").value_or(""), offset);
        if (!is_whole && !is_range) return damaged("the answer is another range");
        if (response.received != into.size()) {
            return damaged(fmt::format("{} bytes came of {}", response.received, into.size()));
        }
        const std::string_view bytes(into.data(), into.size());
        if (expected && checksum_of(expected->algorithm, bytes) != *expected) {
            return damaged("the bytes do not match their checksum");
        }
        return std::nullopt;
    };
    StoreResult<sys::HttpResponse> done = exchange_.send(r, call);
    if (!done) return std::move(done).error();
    return std::monostate{};
}

StoreResult<std::string> S3Store::read(const std::string& key, std::size_t max_size,
                                       const Call& call) {
    if (auto refused = refuse_key("read", key)) return *std::move(refused);
    const StoreResult<ObjectInfo> there = head(key, call);
    if (!there) return there.error();
    if (there->size > max_size) {
        StoreError error;
        error.fault = StoreFault::invalid;
        error.what = fmt::format("read {}/{}: it has {} bytes, at most {} belong here", name(),
                                 printable(key), there->size, max_size);
        return error;
    }
    S3Request r{.operation = "read", .method = "GET", .key = key};
    r.max_body = max_size;
    r.headers.push_back({"x-amz-checksum-mode", "ENABLED"});
    r.check = [](const sys::HttpResponse& response) -> std::optional<Flaw> {
        const std::optional<Checksum> expected = checksum_in(response);
        if (expected && checksum_of(expected->algorithm, response.body) != *expected) {
            return damaged("the bytes do not match their checksum");
        }
        return std::nullopt;
    };
    StoreResult<sys::HttpResponse> done = exchange_.send(r, call);
    if (!done) return std::move(done).error();
    return std::move(done->body);
}

StoreResult<Listing> S3Store::list(const std::string& prefix, char delimiter,
                                   const std::string& next, const Call& call) {
    Listing listing;
    S3Request r{.operation = "list", .method = "GET", .key = {}};
    r.query = {{"list-type", "2"}, {"encoding-type", "url"}, {"prefix", prefix}};
    if (delimiter != '\0') r.query.emplace_back("delimiter", std::string(1, delimiter));
    if (!next.empty()) r.query.emplace_back("continuation-token", next);
    r.check = [&listing](const sys::HttpResponse& response) -> std::optional<Flaw> {
        std::optional<Listing> parsed = parse_listing(response.body);
        if (!parsed) {
            const auto error = parse_error(response.body);
            return Flaw{error ? error->code : "", StoreFault::transport,
                        "the answer is not what S3 answers"};
        }
        listing = *std::move(parsed);
        return std::nullopt;
    };
    StoreResult<sys::HttpResponse> done = exchange_.send(r, call);
    if (!done) return std::move(done).error();
    return listing;
}

StoreResult<std::monostate> S3Store::remove_one(const std::string& key, const Call& call) {
    if (auto refused = refuse_key("remove", key)) return *std::move(refused);
    StoreResult<sys::HttpResponse> done =
        exchange_.send({.operation = "remove", .method = "DELETE", .key = key}, call);
    if (!done && done.error().fault != StoreFault::not_found) {
        return std::move(done).error();
    }
    return std::monostate{};
}

StoreResult<std::monostate> S3Store::remove_batch(std::vector<std::string> keys, const Call& call,
                                                  std::vector<RemoveFailure>& failures) {
    constexpr int kMostRounds = 8;
    for (int round = 1; !keys.empty(); ++round) {
        const std::string body = delete_document(keys);
        std::vector<DeleteError> errors;
        S3Request r{.operation = "remove", .method = "POST", .key = {}};
        r.query = {{"delete", ""}};
        r.body = body;
        r.headers = {{"Content-Type", "application/xml"}, {"Content-MD5", base64(md5(body))}};
        r.check = [&errors](const sys::HttpResponse& response) -> std::optional<Flaw> {
            std::optional<std::vector<DeleteError>> parsed = parse_deleted(response.body);
            if (!parsed) {
                return Flaw{{}, StoreFault::transport, "the answer is not what S3 answers"};
            }
            errors = *std::move(parsed);
            return std::nullopt;
        };
        StoreResult<sys::HttpResponse> done = exchange_.send(r, call);
        if (!done) return std::move(done).error();
        std::vector<std::string> again;
        for (const DeleteError& e : errors) {
            if (e.code == "NoSuchKey") continue;
            const Judgement judgement = judge_answer(400, e.code);
            const bool is_known = std::find(keys.begin(), keys.end(), e.key) != keys.end();
            if (is_known && judgement.step != Step::fail && round < kMostRounds) {
                again.push_back(e.key);
                continue;
            }
            StoreError error;
            error.fault = judgement.fault;
            error.what = fmt::format("remove {}/{} failed: {}", name(), printable(e.key),
                                     printable(e.message, 300));
            error.code = printable(e.code, 100);
            error.attempts = round;
            failures.push_back({e.key, std::move(error)});
        }
        keys = std::move(again);
    }
    return std::monostate{};
}

StoreResult<std::vector<RemoveFailure>> S3Store::remove(const std::vector<std::string>& keys,
                                                        const Call& call) {
    constexpr std::size_t kBatch = 1000;  // the most that DeleteObjects takes
    std::vector<RemoveFailure> failures;
    std::vector<std::vector<std::string>> batches;
    std::vector<std::string> single;
    for (const std::string& key : keys) {
        if (!is_xml_text(key) || key.empty() || key.find('\r') != std::string::npos) {
            single.push_back(key);
            continue;
        }
        if (batches.empty() || batches.back().size() == kBatch) batches.emplace_back();
        batches.back().push_back(key);
    }
    bool is_anything_known = keys.empty();
    StoreError last;
    const auto note = [&](const std::vector<std::string>& asked, StoreResult<std::monostate> done) {
        is_anything_known |= done.has_value();
        if (done) return;
        last = std::move(done).error();
        for (const std::string& key : asked) failures.push_back({key, last});
    };
    for (std::vector<std::string>& batch : batches) {
        note(batch, remove_batch(batch, call, failures));
    }
    for (const std::string& key : single) note({key}, remove_one(key, call));
    if (!is_anything_known) return last;
    return failures;
}

}  // namespace trainyard::aws
