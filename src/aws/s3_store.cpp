#include "s3_store.hpp"

#include <fmt/format.h>

#include <charconv>
#include <utility>

#include "digest.hpp"
#include "encoding.hpp"
#include "http_time.hpp"
#include "s3_headers.hpp"
#include "s3_xml.hpp"
#include "trainyard/aws/etag.hpp"
#include "trainyard/base/text.hpp"

namespace trainyard::aws {
namespace {

/// Tells our own put from that of another writer with the same bytes, when an answer was lost.
constexpr const char* kMarkHeader = "x-amz-meta-trainyard-put";

using Check = std::function<std::optional<Flaw>(const sys::HttpResponse&)>;

/// A 200 is an answer only if `parse` reads it; then the parsed value is in `value`.
template <typename T>
Check check_document(std::optional<T> (*parse)(std::string_view), T& value) {
    return [parse, &value](const sys::HttpResponse& response) -> std::optional<Flaw> {
        if (std::optional<T> parsed = parse(response.body)) {
            value = *std::move(parsed);
            return std::nullopt;
        }
        if (const auto error = parse_error(response.body)) {
            return Flaw{error->code, StoreFault::server, printable(error->message, 300)};
        }
        return Flaw{{}, StoreFault::transport, "the answer is not what S3 answers"};
    };
}

/// The store says which checksum it got; another one than ours means damage on the way.
Check check_echo(std::optional<Checksum> sent) {
    return [sent](const sys::HttpResponse& response) -> std::optional<Flaw> {
        const std::optional<Checksum> got = checksum_in(response);
        if (!sent || !got || got->algorithm != sent->algorithm || *got == *sent)
            return std::nullopt;
        return Flaw{{}, StoreFault::checksum, "the store got other bytes than were sent"};
    };
}

ObjectVersion version_in(const sys::HttpResponse& response) {
    return {etag_in(response), checksum_in(response)};
}

std::optional<std::uint64_t> length_in(const sys::HttpResponse& response) {
    const std::string_view text = response.header("content-length").value_or("");
    std::uint64_t value = 0;
    const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (text.empty() || failure != std::errc{} || end != text.data() + text.size()) {
        return std::nullopt;
    }
    return value;
}

/// Ceph says NoSuchKey where S3 says NoSuchUpload.
StoreError about_upload(StoreError error) {
    if (error.fault == StoreFault::not_found) error.fault = StoreFault::no_such_upload;
    return error;
}

std::uint64_t total_size(const std::vector<Part>& parts) {
    std::uint64_t size = 0;
    for (const Part& part : parts) size += part.size;
    return size;
}

}  // namespace

S3Store::S3Store(S3Settings settings, std::shared_ptr<CredentialSource> credentials,
                 const Endpoint& endpoint)
    : exchange_(std::move(settings), std::move(credentials), endpoint) {}

std::string S3Store::name() const { return "s3://" + exchange_.settings().bucket; }

std::optional<StoreError> S3Store::refuse_key(const std::string& operation,
                                              const std::string& key) const {
    if (!key.empty() && key.size() <= limits().max_key && is_valid_utf8(key)) return std::nullopt;
    StoreError error;
    error.fault = StoreFault::invalid;
    error.attempts = 0;
    error.what = fmt::format("{} {}: the key \"{}\" is not 1 to {} bytes of UTF-8", operation,
                             name(), printable(key, 100), limits().max_key);
    return error;
}

StoreResult<ObjectVersion> S3Store::put(const std::string& key, std::string_view body,
                                        const PutOptions& options, const Call& call) {
    if (auto refused = refuse_key("put", key)) return *std::move(refused);
    const bool is_checked = exchange_.settings().send_checksums;
    const Checksum sum =
        options.checksum ? *options.checksum : checksum_of(ChecksumAlgorithm::crc32c, body);
    S3Request r{.operation = "put", .method = "PUT", .key = key};
    r.body = body;
    r.headers.push_back({"Content-Type", options.content_type.empty() ? "application/octet-stream"
                                                                      : options.content_type});
    if (is_checked) r.headers.push_back({checksum_header(sum.algorithm), to_base64(sum)});
    std::string mark;
    if (options.if_absent) {
        mark = fmt::format("{:016x}{:016x}", exchange_.random(), exchange_.random());
        r.headers.push_back({"If-None-Match", "*"});
        r.headers.push_back({kMarkHeader, mark});
    }
    r.check = check_echo(sum);
    StoreResult<sys::HttpResponse> done = exchange_.send(r, call);
    if (done) return version_in(*done);
    // An answer may have been lost without our knowing: libcurl sends again on a fresh connection
    // when a kept one turns out to be dead.
    const bool may_be_ours =
        options.if_absent && done.error().fault == StoreFault::precondition_failed;
    if (may_be_ours) {
        const StoreResult<Headed> there = head_marked(key, call);
        if (!there) return there.error();
        if (there->mark == mark) return ObjectVersion{there->info.etag, there->info.checksum};
    }
    return std::move(done).error();
}

StoreResult<Upload> S3Store::create_upload(const std::string& key, ChecksumAlgorithm algorithm,
                                           const Call& call) {
    if (auto refused = refuse_key("create upload", key)) return *std::move(refused);
    Upload upload{key, {}};
    S3Request r{.operation = "create upload", .method = "POST", .key = key};
    r.query = {{"uploads", ""}};
    r.headers.push_back({"Content-Type", "application/octet-stream"});
    if (exchange_.settings().send_checksums) {
        r.headers.push_back({"x-amz-checksum-algorithm", std::string(checksum_word(algorithm))});
        r.headers.push_back({"x-amz-checksum-type", "FULL_OBJECT"});
    }
    r.check = check_document(parse_upload_id, upload.id);
    StoreResult<sys::HttpResponse> done = exchange_.send(r, call);
    if (!done) return std::move(done).error();
    return upload;
}

StoreResult<Part> S3Store::put_part(const Upload& upload, int number, std::string_view body,
                                    Checksum checksum, const Call& call) {
    S3Request r{
        .operation = fmt::format("put part {}", number), .method = "PUT", .key = upload.key};
    r.query = {{"partNumber", std::to_string(number)}, {"uploadId", upload.id}};
    r.body = body;
    if (exchange_.settings().send_checksums) {
        r.headers.push_back({checksum_header(checksum.algorithm), to_base64(checksum)});
    }
    r.check = check_echo(checksum);
    StoreResult<sys::HttpResponse> done = exchange_.send(r, call);
    if (!done) return about_upload(std::move(done).error());
    return Part{number, body.size(), etag_in(*done), checksum};
}

bool S3Store::is_completed(const Upload& upload, const std::vector<Part>& parts,
                           const CompleteOptions& options, const Call& call,
                           ObjectVersion& version) {
    const StoreResult<ObjectInfo> there = head(upload.key, call);
    if (!there || there->size != total_size(parts)) return false;
    version = {there->etag, there->checksum};
    const bool has_sum = options.checksum && there->checksum &&
                         options.checksum->algorithm == there->checksum->algorithm;
    if (has_sum) return *options.checksum == *there->checksum;
    const std::optional<std::string> etag = etag_of_parts(parts);
    return etag && *etag == there->etag;
}

StoreResult<ObjectVersion> S3Store::complete_upload(const Upload& upload,
                                                    const std::vector<Part>& parts,
                                                    const CompleteOptions& options,
                                                    const Call& call) {
    const bool is_checked = exchange_.settings().send_checksums;
    std::vector<Part> listed = parts;
    if (!is_checked) {
        for (Part& part : listed) part.checksum.reset();
    }
    const std::string body = complete_document(listed);
    ObjectVersion version;
    S3Request r{.operation = "complete upload", .method = "POST", .key = upload.key};
    r.query = {{"uploadId", upload.id}};
    r.body = body;
    r.may_be_silent = true;
    r.headers.push_back({"Content-Type", "application/xml"});
    if (is_checked && options.checksum) {
        r.headers.push_back(
            {checksum_header(options.checksum->algorithm), to_base64(*options.checksum)});
        r.headers.push_back({"x-amz-checksum-type", "FULL_OBJECT"});
        r.headers.push_back({"x-amz-mp-object-size", std::to_string(total_size(parts))});
    }
    if (options.if_absent) r.headers.push_back({"If-None-Match", "*"});
    r.check = check_document(parse_completed, version.etag);
    StoreResult<sys::HttpResponse> done = exchange_.send(r, call);
    if (done) {
        version.checksum = options.checksum;
        return version;
    }
    // The answer to an earlier attempt, or to an earlier call, may have been lost.
    const StoreFault fault = done.error().fault;
    bool may_be_done = fault == StoreFault::no_such_upload || fault == StoreFault::not_found;
    if (fault == StoreFault::precondition_failed) {  // ours, if the upload is gone
        const StoreResult<PartListing> left = list_parts(upload, {}, call);
        may_be_done = !left && left.error().fault == StoreFault::no_such_upload;
    }
    if (may_be_done && is_completed(upload, parts, options, call, version)) return version;
    return about_upload(std::move(done).error());
}

StoreResult<std::monostate> S3Store::abort_upload(const Upload& upload, const Call& call) {
    constexpr int kMostRounds = 5;
    for (int round = 1;; ++round) {
        S3Request r{.operation = "abort upload", .method = "DELETE", .key = upload.key};
        r.query = {{"uploadId", upload.id}};
        StoreResult<sys::HttpResponse> done = exchange_.send(r, call);
        if (!done) {
            const StoreFault fault = done.error().fault;
            if (fault == StoreFault::no_such_upload || fault == StoreFault::not_found) {
                return std::monostate{};
            }
            return std::move(done).error();
        }
        // A part that was on its way may have arrived after the abort.
        StoreResult<PartListing> left = list_parts(upload, {}, call);
        if (left ? left->parts.empty()
                 : left.error().fault == StoreFault::no_such_upload ||
                       left.error().fault == StoreFault::not_found) {
            return std::monostate{};
        }
        if (!left) return std::move(left).error();
        if (round == kMostRounds) {
            StoreError error;
            error.fault = StoreFault::server;
            error.what = fmt::format("abort upload of {}/{}: parts are still there", name(),
                                     printable(upload.key));
            error.fix = "stop the other writer of this upload, then abort again";
            return error;
        }
    }
}

StoreResult<PartListing> S3Store::list_parts(const Upload& upload, const std::string& next,
                                             const Call& call) {
    PartListing listing;
    S3Request r{.operation = "list parts", .method = "GET", .key = upload.key};
    r.query = {{"uploadId", upload.id}};
    if (!next.empty()) r.query.emplace_back("part-number-marker", next);
    r.check = check_document(parse_parts, listing);
    StoreResult<sys::HttpResponse> done = exchange_.send(r, call);
    if (!done) return about_upload(std::move(done).error());
    return listing;
}

StoreResult<UploadListing> S3Store::list_uploads(const std::string& prefix, const std::string& next,
                                                 const Call& call) {
    UploadListing listing;
    S3Request r{.operation = "list uploads", .method = "GET", .key = {}};
    r.query = {{"uploads", ""}, {"prefix", prefix}, {"encoding-type", "url"}};
    if (const std::size_t end = next.rfind('\n'); end != std::string::npos) {
        r.query.emplace_back("key-marker", next.substr(0, end));
        r.query.emplace_back("upload-id-marker", next.substr(end + 1));
    }
    r.check = check_document(parse_uploads, listing);
    StoreResult<sys::HttpResponse> done = exchange_.send(r, call);
    if (!done) return std::move(done).error();
    return listing;
}

StoreResult<S3Store::Headed> S3Store::head_marked(const std::string& key, const Call& call) {
    if (auto refused = refuse_key("head", key)) return *std::move(refused);
    S3Request r{.operation = "head", .method = "HEAD", .key = key};
    r.headers.push_back({"x-amz-checksum-mode", "ENABLED"});
    r.check = [](const sys::HttpResponse& response) -> std::optional<Flaw> {
        if (length_in(response)) return std::nullopt;
        return Flaw{{}, StoreFault::transport, "the answer has no size"};
    };
    StoreResult<sys::HttpResponse> done = exchange_.send(r, call);
    if (!done) return std::move(done).error();
    const sys::HttpResponse& response = *done;
    Headed headed;
    headed.info.key = key;
    headed.info.size = length_in(response).value_or(0);
    headed.info.modified =
        parse_http_time(response.header("last-modified").value_or("")).value_or(StoreTime{});
    headed.info.etag = etag_in(response);
    headed.info.checksum = checksum_in(response);
    headed.mark = std::string(response.header(kMarkHeader).value_or(""));
    return headed;
}

StoreResult<ObjectInfo> S3Store::head(const std::string& key, const Call& call) {
    StoreResult<Headed> headed = head_marked(key, call);
    if (!headed) return std::move(headed).error();
    return std::move(headed->info);
}

}  // namespace trainyard::aws
