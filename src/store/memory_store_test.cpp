#include "memory_store.hpp"

#include <algorithm>

namespace trainyard::store {

using namespace aws;

namespace {

StoreError fault(StoreFault kind, std::string what) {
    StoreError e;
    e.fault = kind;
    e.what = std::move(what);
    return e;
}

}  // namespace

template <typename F>
std::optional<StoreError> MemoryStore::guarded(std::string_view operation, const F& effect) {
    const auto verdict = env_.faults.next(operation);
    env_.sleep_ns(1'000'000);
    const StoreError lost = fault(StoreFault::transport, std::string(operation) + " failed");
    if (verdict == sys::Faults::Verdict::fail) return lost;
    std::optional<StoreError> error = effect();
    if (error) return error;
    return verdict == sys::Faults::Verdict::go ? std::nullopt : std::optional(lost);
}

StoreLimits MemoryStore::limits() const {
    StoreLimits limits;
    limits.min_part = part_size_;
    limits.max_part = part_size_;
    return limits;
}

StoreResult<ObjectVersion> MemoryStore::put(const std::string& key, std::string_view body,
                                            const PutOptions& options, const Call& /*call*/) {
    auto error = guarded("put " + key, [&]() -> std::optional<StoreError> {
        if (options.if_absent && objects.contains(key)) {
            return fault(StoreFault::precondition_failed, key);
        }
        objects[key] = std::string(body);
        return std::nullopt;
    });
    if (error) return *error;
    return ObjectVersion{"etag", options.checksum};
}

StoreResult<Upload> MemoryStore::create_upload(const std::string& key, ChecksumAlgorithm /*a*/,
                                               const Call& /*call*/) {
    const std::string id = "upload-" + std::to_string(next_upload_++);
    auto error = guarded("create upload", [&]() -> std::optional<StoreError> {
        uploads[id] = {key, env_.now_ns() / 1'000'000'000, {}};
        return std::nullopt;
    });
    if (error) return *error;
    return Upload{key, id};
}

StoreResult<Part> MemoryStore::put_part(const Upload& upload, int number, std::string_view body,
                                        Checksum checksum, const Call& /*call*/) {
    auto error = guarded("put part", [&]() -> std::optional<StoreError> {
        const auto found = uploads.find(upload.id);
        if (found == uploads.end()) return fault(StoreFault::no_such_upload, upload.key);
        found->second.parts[number] = std::string(body);
        return std::nullopt;
    });
    if (error) return *error;
    return Part{number, body.size(), "etag", checksum};
}

StoreResult<ObjectVersion> MemoryStore::complete_upload(const Upload& upload,
                                                        const std::vector<Part>& parts,
                                                        const CompleteOptions& options,
                                                        const Call& /*call*/) {
    auto error = guarded("complete upload", [&]() -> std::optional<StoreError> {
        const auto found = uploads.find(upload.id);
        if (found == uploads.end()) return fault(StoreFault::no_such_upload, upload.key);
        std::string whole;
        for (const Part& part : parts) {
            const auto at = found->second.parts.find(part.number);
            if (at == found->second.parts.end()) return fault(StoreFault::invalid, "InvalidPart");
            whole += at->second;
        }
        if (options.checksum &&
            checksum_of(options.checksum->algorithm, whole) != *options.checksum) {
            return fault(StoreFault::checksum, upload.key);
        }
        objects[found->second.key] = whole;
        uploads.erase(found);
        return std::nullopt;
    });
    if (error) return *error;
    return ObjectVersion{"etag", options.checksum};
}

StoreResult<std::monostate> MemoryStore::abort_upload(const Upload& upload, const Call& /*call*/) {
    auto error = guarded("abort upload", [&]() -> std::optional<StoreError> {
        uploads.erase(upload.id);
        return std::nullopt;
    });
    if (error) return *error;
    return std::monostate{};
}

StoreResult<PartListing> MemoryStore::list_parts(const Upload& upload, const std::string& /*next*/,
                                                 const Call& /*call*/) {
    PartListing listing;
    auto error = guarded("list parts", [&]() -> std::optional<StoreError> {
        const auto found = uploads.find(upload.id);
        if (found == uploads.end()) return fault(StoreFault::no_such_upload, upload.key);
        for (const auto& [number, body] : found->second.parts) {
            listing.parts.push_back(
                {number, body.size(), "etag", checksum_of(ChecksumAlgorithm::crc64nvme, body)});
        }
        return std::nullopt;
    });
    if (error) return *error;
    return listing;
}

StoreResult<UploadListing> MemoryStore::list_uploads(const std::string& prefix,
                                                     const std::string& /*next*/,
                                                     const Call& /*call*/) {
    UploadListing listing;
    auto error = guarded("list uploads", [&]() -> std::optional<StoreError> {
        for (const auto& [id, open] : uploads) {
            if (!open.key.starts_with(prefix)) continue;
            listing.uploads.push_back(
                {{open.key, id}, StoreTime(std::chrono::seconds(open.started))});
        }
        return std::nullopt;
    });
    if (error) return *error;
    return listing;
}

StoreResult<ObjectInfo> MemoryStore::head(const std::string& key, const Call& /*call*/) {
    ObjectInfo info;
    auto error = guarded("head", [&]() -> std::optional<StoreError> {
        const auto found = objects.find(key);
        if (found == objects.end()) return fault(StoreFault::not_found, key);
        info.key = key;
        info.size = found->second.size();
        info.checksum = checksum_of(ChecksumAlgorithm::crc64nvme, found->second);
        return std::nullopt;
    });
    if (error) return *error;
    return info;
}

StoreResult<std::monostate> MemoryStore::get(const std::string& key, std::uint64_t offset,
                                             std::span<char> into,
                                             const std::optional<Checksum>& expected,
                                             const Call& /*call*/) {
    auto error = guarded("get", [&]() -> std::optional<StoreError> {
        const auto found = objects.find(key);
        if (found == objects.end()) return fault(StoreFault::not_found, key);
        if (offset + into.size() > found->second.size()) return fault(StoreFault::checksum, key);
        found->second.copy(into.data(), into.size(), offset);
        if (expected && checksum_of(expected->algorithm, {into.data(), into.size()}) != *expected) {
            return fault(StoreFault::checksum, key);
        }
        return std::nullopt;
    });
    if (error) return *error;
    return std::monostate{};
}

StoreResult<std::string> MemoryStore::read(const std::string& key, std::size_t /*max_size*/,
                                           const Call& /*call*/) {
    std::string text;
    auto error = guarded("read", [&]() -> std::optional<StoreError> {
        const auto found = objects.find(key);
        if (found == objects.end()) return fault(StoreFault::not_found, key);
        text = found->second;
        return std::nullopt;
    });
    if (error) return *error;
    return text;
}

StoreResult<Listing> MemoryStore::list(const std::string& prefix, char /*delimiter*/,
                                       const std::string& next, const Call& /*call*/) {
    Listing listing;
    auto error = guarded("list", [&]() -> std::optional<StoreError> {
        constexpr std::size_t kPage = 3;  // small, so that every caller turns pages
        for (const auto& [key, body] : objects) {
            if (!key.starts_with(prefix) || key <= next) continue;
            if (listing.objects.size() == kPage) {
                listing.next = listing.objects.back().key;
                break;
            }
            ObjectInfo info;
            info.key = key;
            info.size = body.size();
            listing.objects.push_back(std::move(info));
        }
        return std::nullopt;
    });
    if (error) return *error;
    return listing;
}

StoreResult<std::vector<RemoveFailure>> MemoryStore::remove(const std::vector<std::string>& keys,
                                                            const Call& /*call*/) {
    // A removal of many keys can be interrupted between any two.
    for (const std::string& key : keys) {
        auto error = guarded("remove " + key, [&]() -> std::optional<StoreError> {
            objects.erase(key);
            return std::nullopt;
        });
        if (error) return *error;
    }
    return std::vector<RemoveFailure>{};
}

}  // namespace trainyard::store
