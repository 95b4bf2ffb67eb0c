#pragma once
// A bucket, or anything that behaves like one: S3 (s3.hpp), a directory, a model in a test.
//
// Calls block and may come from any number of threads at once; concurrency is the caller's threads.
// A call returns only when it is done, has failed for good (retries are inside) or was stopped. A
// key is bytes, never a path: "a//b", "./a" and "a%2Fb" are three different keys. Sizes and offsets
// are in bytes. Nothing here throws and no message holds a secret.
//
// What a caller may rely on, whatever the store:
// - put and complete_upload make the object visible whole or not at all, and a read that starts
//   after they return sees it (S3: strong read-after-write since December 2020).
// - if_absent is decided by the store at the moment the object would become visible.
// - A lost answer is resolved inside: put, put_part, complete_upload and remove may be sent twice,
//   never applied to other bytes.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>
#include <variant>
#include <vector>

#include "trainyard/aws/checksum.hpp"
#include "trainyard/base/result.hpp"

namespace trainyard::aws {

enum class StoreFault {
    not_found,            ///< no such key
    no_such_bucket,       ///< the bucket is not there (any more)
    no_such_upload,       ///< the multipart upload was completed, aborted or never existed
    precondition_failed,  ///< if_absent: the key exists. if_match: the object is another one now
    throttled,            ///< 503 SlowDown, 429: still so after all retries
    credentials,          ///< none found, expired for good, or refused
    access_denied,        ///< the credentials are good but may not do this
    clock,                ///< the server's clock and ours differ beyond what a signature allows
    checksum,             ///< bytes arrived damaged, or are not those that were expected
    transport,            ///< no connection, reset, unreadable answer, still so after all retries
    timed_out,            ///< too slow for too long, or the deadline passed
    stopped,              ///< the caller's stop token
    full,                 ///< the store has no room (507, quota, ENOSPC)
    server,               ///< 5xx without a better name, still so after all retries
    invalid,              ///< the store refuses the request as such; retrying cannot help
};
/// "not found", "precondition failed", …
std::string_view name(StoreFault fault);

struct StoreError {
    StoreFault fault = StoreFault::transport;
    std::string what;        ///< one sentence, no full stop, names the key and the operation
    std::string fix;         ///< what to do, if something can be done
    int http_status = 0;     ///< of the last attempt; 0: none came back, or no HTTP store
    std::string code;        ///< the store's own word ("SlowDown"), if any
    std::string request_id;  ///< for AWS support, if any
    int attempts = 1;
};
/// For the end of a command: ErrorKind::world with one diagnostic.
Error to_error(const StoreError& error);

template <typename T>
class [[nodiscard]] StoreResult : public tl::expected<T, StoreError> {
  public:
    using tl::expected<T, StoreError>::expected;
    // NOLINTNEXTLINE(google-explicit-constructor)
    StoreResult(StoreError e) : tl::expected<T, StoreError>(tl::unexpect, std::move(e)) {}
};

using StoreClock = std::chrono::steady_clock;
using StoreTime = std::chrono::sys_time<std::chrono::seconds>;

/// Bounds one call, all its retries and waits included.
struct Call {
    std::optional<StoreClock::time_point> deadline;  ///< absent: the store's own limits only
    std::stop_token stop;                            ///< a stopped call returns StoreFault::stopped
};

struct StoreLimits {
    std::uint64_t max_put = std::uint64_t{5} << 30U;     ///< largest object of one put
    std::uint64_t min_part = std::uint64_t{5} << 20U;    ///< all parts but the last
    std::uint64_t max_part = std::uint64_t{5} << 30U;    ///< one part
    std::uint64_t max_object = std::uint64_t{5} << 40U;  ///< all parts of one object
    int max_parts = 10'000;                              ///< parts are numbered from 1 to this
    std::size_t max_key = 1024;                          ///< bytes of UTF-8
};

struct PutOptions {
    bool if_absent = false;  ///< If-None-Match: * (else an existing object is replaced)
    /// Of the body. Sent with it, checked by the store on arrival and kept with the object. Absent:
    /// the store computes crc32c itself, so a put never goes unchecked.
    std::optional<Checksum> checksum;
    std::string content_type;  ///< empty: application/octet-stream
};

/// What identifies an object's content after a put or a completed upload.
struct ObjectVersion {
    std::string etag;                  ///< as the store gave it, without quotes; never interpret it
    std::optional<Checksum> checksum;  ///< as the store returned it; absent: it keeps none
};

struct ObjectInfo {
    std::string key;
    std::uint64_t size = 0;
    StoreTime modified{};
    std::string etag;
    std::optional<Checksum> checksum;  ///< head only, of the whole object; absent: unknown
};

/// An open multipart upload. The pair is what a journal must keep to resume or abort it.
struct Upload {
    std::string key;
    std::string id;
};
struct OpenUpload {
    Upload upload;
    StoreTime started{};
};

struct Part {
    int number = 1;  ///< from 1; any order, gaps allowed
    std::uint64_t size = 0;
    std::string etag;
    std::optional<Checksum> checksum;  ///< absent: the store keeps none (list_parts)
};

struct CompleteOptions {
    bool if_absent = false;
    /// Of the whole object (combine() of the parts' checksums). The store that can check it does.
    std::optional<Checksum> checksum;
};

struct Listing {
    std::vector<ObjectInfo> objects;    ///< ascending by the key's bytes
    std::vector<std::string> prefixes;  ///< with a delimiter: the groups, with it at their end
    std::string next;  ///< continuation for the next page; empty: this was the last
};
struct UploadListing {
    std::vector<OpenUpload> uploads;
    std::string next;
};
struct PartListing {
    std::vector<Part> parts;  ///< ascending by number
    std::string next;
};

struct RemoveFailure {
    std::string key;
    StoreError error;
};

class ObjectStore {
  public:
    ObjectStore() = default;
    ObjectStore(const ObjectStore&) = delete;
    ObjectStore& operator=(const ObjectStore&) = delete;
    ObjectStore(ObjectStore&&) = delete;
    ObjectStore& operator=(ObjectStore&&) = delete;
    virtual ~ObjectStore() = default;

    /// For messages: "s3://bucket", a directory.
    virtual std::string name() const = 0;
    virtual StoreLimits limits() const { return {}; }

    /// Whole object in one call; at most limits().max_put.
    virtual StoreResult<ObjectVersion> put(const std::string& key, std::string_view body,
                                           const PutOptions& options, const Call& call) = 0;

    /// Multipart: create, parts in any order from any threads, complete. An upload that is neither
    /// completed nor aborted stays and costs money: write it to a journal before the first part.
    virtual StoreResult<Upload> create_upload(const std::string& key, ChecksumAlgorithm algorithm,
                                              const Call& call) = 0;
    /// `checksum` is that of `body`, of the upload's algorithm. The same number again replaces it.
    virtual StoreResult<Part> put_part(const Upload& upload, int number, std::string_view body,
                                       Checksum checksum, const Call& call) = 0;
    /// `parts` ascending by number, as put_part or list_parts returned them. no_such_upload is
    /// returned only if the object is not there with these parts' size and checksum.
    virtual StoreResult<ObjectVersion> complete_upload(const Upload& upload,
                                                       const std::vector<Part>& parts,
                                                       const CompleteOptions& options,
                                                       const Call& call) = 0;
    /// Done when the store no longer lists a part of it; an upload that is not there is a success.
    virtual StoreResult<std::monostate> abort_upload(const Upload& upload, const Call& call) = 0;
    virtual StoreResult<PartListing> list_parts(const Upload& upload, const std::string& next,
                                                const Call& call) = 0;
    virtual StoreResult<UploadListing> list_uploads(const std::string& prefix,
                                                    const std::string& next, const Call& call) = 0;

    virtual StoreResult<ObjectInfo> head(const std::string& key, const Call& call) = 0;
    /// Exactly into.size() bytes from `offset` on; fewer in the object is StoreFault::checksum.
    /// `expected` is of these bytes: if they do not match after all retries, StoreFault::checksum
    /// and the contents of `into` are unspecified.
    virtual StoreResult<std::monostate> get(const std::string& key, std::uint64_t offset,
                                            std::span<char> into,
                                            const std::optional<Checksum>& expected,
                                            const Call& call) = 0;
    /// A whole small object (a manifest). Larger than `max_size` is StoreFault::invalid.
    virtual StoreResult<std::string> read(const std::string& key, std::size_t max_size,
                                          const Call& call) = 0;

    /// One page, at most 1,000 keys. `delimiter` 0: none. `next` empty: from the start.
    virtual StoreResult<Listing> list(const std::string& prefix, char delimiter,
                                      const std::string& next, const Call& call) = 0;
    /// Any number of keys; one that is not there counts as removed. What could not be removed is
    /// returned; the call itself fails only if nothing is known about any key.
    virtual StoreResult<std::vector<RemoveFailure>> remove(const std::vector<std::string>& keys,
                                                           const Call& call) = 0;
};

}  // namespace trainyard::aws
