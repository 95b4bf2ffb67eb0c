#include "trainyard/store/directory_store.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <set>
#include <system_error>

#include "trainyard/store/tree.hpp"

namespace trainyard::store {

namespace {

std::string etag_of(std::uint64_t inode, std::int64_t modified_ns) {
    return fmt::format("{:x}-{:x}", inode, modified_ns);
}

using namespace aws;

constexpr std::string_view kPrivate = ".trainyard";
constexpr std::int64_t kNanoseconds = 1'000'000'000;

StoreFault fault_of(int code) {
    switch (code) {
        case ENOENT:
        case ENOTDIR:
            return StoreFault::not_found;
        case EEXIST:
            return StoreFault::precondition_failed;
        case ENOSPC:
        case EDQUOT:
        case EFBIG:
            return StoreFault::full;
        case EACCES:
        case EPERM:
        case EROFS:
            return StoreFault::access_denied;
        case ENAMETOOLONG:
        case EISDIR:
            return StoreFault::invalid;
        default:
            return StoreFault::transport;
    }
}

StoreError failed(const sys::IoError& error) {
    StoreError e;
    e.fault = fault_of(error.code);
    if (e.fault == StoreFault::full) e.fix = "free space in the store: put again resumes";
    e.what = fmt::format("{}: {} failed: {}", error.path, error.operation,
                         std::generic_category().message(error.code));
    return e;
}

StoreError fault(StoreFault kind, std::string what) {
    StoreError e;
    e.fault = kind;
    e.what = std::move(what);
    return e;
}

bool is_path(std::string_view key) {
    if (key.empty() || key.find('\0') != std::string_view::npos) return false;
    std::size_t at = 0;
    while (at <= key.size()) {
        const std::size_t end = std::min(key.find('/', at), key.size());
        const std::string_view part = key.substr(at, end - at);
        if (part.empty() || part == "." || part == "..") return false;
        if (at == 0 && part == kPrivate) return false;
        at = end + 1;
    }
    return true;
}

/// A key as the end of a file name: "/" becomes "%2F". Long ones are cut: their beginning, which
/// says whose they are, stays.
std::string flat(std::string_view key) {
    std::string name;
    for (const char c : key.substr(0, 120)) name += c == '/' ? "%2F" : std::string(1, c);
    return name.substr(0, 180);
}
std::string key_of_flat(std::string name) {
    for (std::size_t at = name.find("%2F"); at != std::string::npos; at = name.find("%2F", at)) {
        name.replace(at, 3, "/");
    }
    return name;
}

StoreTime time_of(std::int64_t ns) { return StoreTime(std::chrono::seconds(ns / kNanoseconds)); }

/// One written part, as the upload's ".parts" file keeps it: 24 bytes, the checksum of the rest
/// last, so that a torn record is told from a whole one.
struct PartRecord {
    std::uint32_t number = 0;
    std::uint32_t size = 0;
    std::uint64_t checksum = 0;
    std::uint32_t algorithm = 0;
    std::uint32_t check = 0;
};
static_assert(sizeof(PartRecord) == 24);

std::uint32_t check_of(const PartRecord& record) {
    const std::string_view bytes(reinterpret_cast<const char*>(&record),
                                 sizeof record - sizeof record.check);
    return static_cast<std::uint32_t>(checksum_of(ChecksumAlgorithm::crc32c, bytes).value);
}

class DirectoryStore : public ObjectStore {
  public:
    DirectoryStore(sys::Env& env, std::string root, std::uint64_t part_size)
        : env_(env), root_(std::move(root)), part_size_(part_size) {}

    std::string name() const override { return root_; }
    StoreLimits limits() const override {
        StoreLimits limits;
        limits.max_put = std::uint64_t{1} << 30U;
        limits.min_part = part_size_;
        limits.max_part = part_size_;
        limits.max_object = std::uint64_t{1} << 60U;
        limits.max_parts = 1 << 30;
        limits.max_key = 4096;
        return limits;
    }

    StoreResult<ObjectVersion> put(const std::string& key, std::string_view body,
                                   const PutOptions& options, const Call& call) override;
    StoreResult<Upload> create_upload(const std::string& key, ChecksumAlgorithm algorithm,
                                      const Call& call) override;
    StoreResult<Part> put_part(const Upload& upload, int number, std::string_view body,
                               Checksum checksum, const Call& call) override;
    StoreResult<ObjectVersion> complete_upload(const Upload& upload, const std::vector<Part>& parts,
                                               const CompleteOptions& options,
                                               const Call& call) override;
    StoreResult<std::monostate> abort_upload(const Upload& upload, const Call& call) override;
    StoreResult<PartListing> list_parts(const Upload& upload, const std::string& next,
                                        const Call& call) override;
    StoreResult<UploadListing> list_uploads(const std::string& prefix, const std::string& next,
                                            const Call& call) override;
    StoreResult<ObjectInfo> head(const std::string& key, const Call& call) override;
    StoreResult<std::monostate> get(const std::string& key, std::uint64_t offset,
                                    std::span<char> into, const std::optional<Checksum>& expected,
                                    const Call& call) override;
    StoreResult<std::string> read(const std::string& key, std::size_t max_size,
                                  const Call& call) override;
    StoreResult<Listing> list(const std::string& prefix, char delimiter, const std::string& next,
                              const Call& call) override;
    StoreResult<std::vector<RemoveFailure>> remove(const std::vector<std::string>& keys,
                                                   const Call& call) override;

  private:
    std::string path_of(std::string_view key) const { return root_ + "/" + std::string(key); }
    std::string private_path(std::string_view name) const {
        return fmt::format("{}/{}/{}", root_, kPrivate, name);
    }
    std::string fresh_name(std::string_view kind, std::string_view key) {
        return fmt::format("{}-{:016x}-{}", kind, env_.random(), flat(key));
    }
    sys::IoDone make_private();
    sys::IoResult<std::unique_ptr<sys::File>> create_private(const std::string& name);
    /// Gives a synced temporary file its name for good.
    StoreResult<ObjectVersion> publish(const std::string& temporary, const std::string& key,
                                       bool if_absent);
    void remove_empty_parents(const std::string& key);
    /// Makes the directory and what is above it, and makes sure, once a process, that their names
    /// last: a process that died may have made them without.
    sys::IoDone ensure_directory(const std::string& path);
    sys::IoDone sync_names(const std::string& path);
    void forget_directory(const std::string& path);

    sys::Env& env_;
    std::string root_;
    std::uint64_t part_size_;
    std::mutex mutex_;
    std::set<std::string> lasting_;  ///< directories whose own names are known to last
};

sys::IoDone DirectoryStore::ensure_directory(const std::string& path) {
    {
        const std::scoped_lock lock(mutex_);
        if (lasting_.contains(path)) return sys::Done{};
    }
    if (const auto made = sys::make_directories(env_, path); !made) return made;
    return sync_names(path);
}

sys::IoDone DirectoryStore::sync_names(const std::string& path) {
    for (std::string at = path; at.size() >= root_.size(); at = sys::parent_of(at)) {
        {
            const std::scoped_lock lock(mutex_);
            if (lasting_.contains(at)) return sys::Done{};
        }
        if (const auto synced = env_.sync_directory(sys::parent_of(at)); !synced) return synced;
        const std::scoped_lock lock(mutex_);
        lasting_.insert(at);
        if (at == root_) break;
    }
    return sys::Done{};
}

void DirectoryStore::forget_directory(const std::string& path) {
    const std::scoped_lock lock(mutex_);
    lasting_.erase(path);
}

sys::IoDone DirectoryStore::make_private() {
    return sys::make_directories(env_, root_ + "/" + std::string(kPrivate));
}

sys::IoResult<std::unique_ptr<sys::File>> DirectoryStore::create_private(const std::string& name) {
    auto file = env_.create(private_path(name));
    if (file || file.error().code != ENOENT) return file;
    if (const auto made = make_private(); !made) return made.error();
    return env_.create(private_path(name));
}

StoreResult<ObjectVersion> DirectoryStore::publish(const std::string& temporary,
                                                   const std::string& key, bool if_absent) {
    const std::string target = path_of(key);
    const std::string directory = sys::parent_of(target);
    // Another process may remove the directory while it is still empty.
    for (int attempt = 0;; ++attempt) {
        if (const auto made = ensure_directory(directory); !made) return failed(made.error());
        const auto named =
            if_absent ? env_.link(temporary, target) : env_.rename(temporary, target);
        if (named) break;
        if (named.error().code == ENOENT && attempt < 3) {
            forget_directory(directory);
            continue;
        }
        StoreError error = failed(named.error());
        if (if_absent && named.error().code == EEXIST) {
            // Whoever is told that it is there may rely on it.
            const auto synced = env_.sync_directory(directory);
            if (!synced) return failed(synced.error());
        }
        if (if_absent && (named.error().code == EPERM || named.error().code == EOPNOTSUPP)) {
            error.fix = "this file system has no hard links: use another one, or S3";
        }
        return error;
    }
    if (const auto synced = env_.sync_directory(directory); !synced) return failed(synced.error());
    const auto status = env_.status(target);
    if (!status) return failed(status.error());
    ObjectVersion version;
    version.etag = etag_of(status->inode, status->modified_ns);
    return version;
}

StoreResult<ObjectVersion> DirectoryStore::put(const std::string& key, std::string_view body,
                                               const PutOptions& options, const Call& /*call*/) {
    if (!is_path(key)) return fault(StoreFault::invalid, key + ": not a key of a directory");
    if (options.checksum && checksum_of(options.checksum->algorithm, body) != *options.checksum) {
        return fault(StoreFault::checksum, key + ": the bytes do not have their checksum");
    }
    const std::string name = fresh_name("put", key);
    auto file = create_private(name);
    if (!file) return failed(file.error());
    const std::string temporary = private_path(name);
    auto written = (*file)->write_at(0, body);
    if (written) written = (*file)->sync();
    StoreResult<ObjectVersion> version = written
                                             ? publish(temporary, key, options.if_absent)
                                             : StoreResult<ObjectVersion>(failed(written.error()));
    if (!version || options.if_absent) {
        // What stays behind is listed as an upload and swept.
        static_cast<void>(env_.unlink(temporary));
    }
    if (version) version->checksum = options.checksum;
    return version;
}

StoreResult<Upload> DirectoryStore::create_upload(const std::string& key,
                                                  ChecksumAlgorithm /*algorithm*/,
                                                  const Call& /*call*/) {
    if (!is_path(key)) return fault(StoreFault::invalid, key + ": not a key of a directory");
    Upload upload{key, fresh_name("up", key)};
    const auto file = create_private(upload.id);
    if (!file) return failed(file.error());
    const auto parts = create_private(upload.id + ".parts");
    if (!parts) return failed(parts.error());
    return upload;
}

StoreResult<Part> DirectoryStore::put_part(const Upload& upload, int number, std::string_view body,
                                           Checksum checksum, const Call& /*call*/) {
    if (body.size() > part_size_ || number < 1) {
        return fault(StoreFault::invalid, upload.key + ": a part of another size");
    }
    const auto slot = static_cast<std::uint64_t>(number - 1);
    auto file = env_.open_to_write(private_path(upload.id));
    if (!file) {
        return file.error().code == ENOENT
                   ? fault(StoreFault::no_such_upload, upload.key + ": no such upload")
                   : failed(file.error());
    }
    auto done = (*file)->write_at(slot * part_size_, body);
    if (!done) return failed(done.error());
    PartRecord record{.number = static_cast<std::uint32_t>(number),
                      .size = static_cast<std::uint32_t>(body.size()),
                      .checksum = checksum.value,
                      .algorithm = static_cast<std::uint32_t>(checksum.algorithm)};
    record.check = check_of(record);
    auto parts = env_.open_to_write(private_path(upload.id + ".parts"));
    if (!parts) return failed(parts.error());
    done = (*parts)->write_at(slot * sizeof record,
                              {reinterpret_cast<const char*>(&record), sizeof record});
    if (!done) return failed(done.error());
    return Part{number, body.size(), fmt::format("{:x}", checksum.value), checksum};
}

/// Only parts whose bytes are still what they were: after a power cut the record may be there and
/// the bytes not.
StoreResult<PartListing> DirectoryStore::list_parts(const Upload& upload,
                                                    const std::string& /*next*/,
                                                    const Call& /*call*/) {
    PartListing listing;
    auto records =
        sys::read_whole(env_, private_path(upload.id + ".parts"), std::uint64_t{1} << 30U);
    auto file = env_.open(private_path(upload.id));
    if (!records || !file) {
        const sys::IoError& error = records ? file.error() : records.error();
        if (error.code != ENOENT) return failed(error);
        return fault(StoreFault::no_such_upload, upload.key + ": no such upload");
    }
    std::string bytes;
    for (std::size_t at = 0; at + sizeof(PartRecord) <= records->size(); at += sizeof(PartRecord)) {
        PartRecord record;
        std::memcpy(&record, records->data() + at, sizeof record);
        if (record.number == 0 || record.check != check_of(record)) continue;
        const Checksum checksum{static_cast<ChecksumAlgorithm>(record.algorithm), record.checksum};
        bytes.resize(record.size);
        const auto n = (*file)->read_at((record.number - 1) * part_size_, bytes);
        if (!n || *n != bytes.size() || checksum_of(checksum.algorithm, bytes) != checksum)
            continue;
        listing.parts.push_back({static_cast<int>(record.number), record.size,
                                 fmt::format("{:x}", record.checksum), checksum});
    }
    return listing;
}

StoreResult<ObjectVersion> DirectoryStore::complete_upload(const Upload& upload,
                                                           const std::vector<Part>& parts,
                                                           const CompleteOptions& options,
                                                           const Call& call) {
    std::uint64_t size = 0;
    for (std::size_t i = 0; i < parts.size(); ++i) {
        const bool is_last = i + 1 == parts.size();
        if (parts[i].number != static_cast<int>(i) + 1 ||
            (!is_last && parts[i].size != part_size_)) {
            return fault(StoreFault::invalid, upload.key + ": parts are missing or misplaced");
        }
        size += parts[i].size;
    }
    auto file = env_.open_to_write(private_path(upload.id));
    if (!file) {
        if (file.error().code != ENOENT) return failed(file.error());
        const auto there = head(upload.key, call);
        if (there && there->size == size && !options.if_absent) {
            return ObjectVersion{there->etag, options.checksum};
        }
        return fault(StoreFault::no_such_upload, upload.key + ": no such upload");
    }
    const auto status = (*file)->status();
    if (!status || status->size != size) {
        return fault(StoreFault::invalid, upload.key + ": the upload has another size");
    }
    if (const auto synced = (*file)->sync(); !synced) return failed(synced.error());
    auto version = publish(private_path(upload.id), upload.key, options.if_absent);
    if (!version) return version;
    version->checksum = options.checksum;
    if (options.if_absent) static_cast<void>(env_.unlink(private_path(upload.id)));
    static_cast<void>(env_.unlink(private_path(upload.id + ".parts")));
    return version;
}

StoreResult<std::monostate> DirectoryStore::abort_upload(const Upload& upload,
                                                         const Call& /*call*/) {
    if (upload.id.find('/') != std::string::npos) {
        return fault(StoreFault::invalid, upload.id + ": not an upload");
    }
    for (const std::string& name : {upload.id, upload.id + ".parts"}) {
        const auto gone = env_.unlink(private_path(name));
        if (!gone && gone.error().code != ENOENT) return failed(gone.error());
    }
    return std::monostate{};
}

StoreResult<UploadListing> DirectoryStore::list_uploads(const std::string& prefix,
                                                        const std::string& /*next*/,
                                                        const Call& /*call*/) {
    UploadListing listing;
    const auto entries = env_.list(root_ + "/" + std::string(kPrivate));
    if (!entries) {
        if (entries.error().code == ENOENT) return listing;
        return failed(entries.error());
    }
    for (const sys::DirectoryEntry& entry : *entries) {
        // "put-" or "up-", 16 digits, "-", the key
        const bool is_put = entry.name.starts_with("put-");
        const std::size_t head_size = is_put ? 21 : 20;
        if ((!is_put && !entry.name.starts_with("up-")) || entry.name.size() < head_size) continue;
        std::string id = entry.name;
        if (id.ends_with(".parts")) {
            id.resize(id.size() - std::string_view(".parts").size());
            const auto data = env_.status(private_path(id));
            if (data) continue;  // listed by its data
        }
        const std::string key = key_of_flat(id.substr(head_size));
        if (!key.starts_with(prefix)) continue;
        const auto status = env_.status(private_path(entry.name));
        if (!status) continue;
        listing.uploads.push_back({{key, id}, time_of(status->modified_ns)});
    }
    return listing;
}

StoreResult<ObjectInfo> DirectoryStore::head(const std::string& key, const Call& /*call*/) {
    if (!is_path(key)) return fault(StoreFault::invalid, key + ": not a key of a directory");
    const auto status = env_.status(path_of(key));
    if (!status) return failed(status.error());
    if (status->kind != sys::FileKind::file) return fault(StoreFault::not_found, key + ": no file");
    ObjectInfo info;
    info.key = key;
    info.size = status->size;
    info.modified = time_of(status->modified_ns);
    info.etag = etag_of(status->inode, status->modified_ns);
    return info;
}

StoreResult<std::monostate> DirectoryStore::get(const std::string& key, std::uint64_t offset,
                                                std::span<char> into,
                                                const std::optional<Checksum>& expected,
                                                const Call& /*call*/) {
    if (!is_path(key)) return fault(StoreFault::invalid, key + ": not a key of a directory");
    auto file = env_.open(path_of(key));
    if (!file) return failed(file.error());
    const auto n = (*file)->read_at(offset, into);
    if (!n) return failed(n.error());
    if (*n != into.size()) return fault(StoreFault::checksum, key + ": it is shorter than it was");
    if (expected && checksum_of(expected->algorithm, {into.data(), into.size()}) != *expected) {
        return fault(StoreFault::checksum, key + ": its bytes are damaged");
    }
    return std::monostate{};
}

StoreResult<std::string> DirectoryStore::read(const std::string& key, std::size_t max_size,
                                              const Call& /*call*/) {
    if (!is_path(key)) return fault(StoreFault::invalid, key + ": not a key of a directory");
    auto text = sys::read_whole(env_, path_of(key), max_size);
    if (text) {
        // Decisions rest on what is read here, so its name must last: its writer may have died
        // between naming and syncing it. On a read-only file system nothing is decided.
        auto synced = env_.sync_directory(sys::parent_of(path_of(key)));
        if (synced) synced = sync_names(sys::parent_of(path_of(key)));
        const int code = synced ? 0 : synced.error().code;
        if (code != 0 && code != EROFS && code != EINVAL && code != EACCES && code != EPERM) {
            return failed(synced.error());
        }
        return std::move(*text);
    }
    if (text.error().code == EFBIG) return fault(StoreFault::invalid, key + ": it is too large");
    return failed(text.error());
}

StoreResult<Listing> DirectoryStore::list(const std::string& prefix, char delimiter,
                                          const std::string& /*next*/, const Call& /*call*/) {
    Listing listing;
    const std::size_t slash = prefix.rfind('/');
    const std::string directory = slash == std::string::npos ? "" : prefix.substr(0, slash);
    const std::string path = directory.empty() ? root_ : path_of(directory);
    if (const auto status = env_.status(path); !status) {
        if (fault_of(status.error().code) == StoreFault::not_found) return listing;
        return failed(status.error());
    }
    const auto tree = read_tree(env_, path);
    if (!tree) return fault(StoreFault::transport, format(tree.error().diagnostics));
    for (const TreeFile& file : tree->files) {
        const std::string key = directory.empty() ? file.path : directory + "/" + file.path;
        if (!key.starts_with(prefix) || key.starts_with(kPrivate)) continue;
        const std::size_t group =
            delimiter == 0 ? std::string::npos : key.find(delimiter, prefix.size());
        if (group != std::string::npos) {
            const std::string name = key.substr(0, group + 1);
            if (listing.prefixes.empty() || listing.prefixes.back() != name) {
                listing.prefixes.push_back(name);
            }
            continue;
        }
        ObjectInfo info;
        info.key = key;
        info.size = file.size;
        info.modified = time_of(file.modified_ns);
        info.etag = etag_of(file.inode, file.modified_ns);
        listing.objects.push_back(std::move(info));
    }
    return listing;
}

void DirectoryStore::remove_empty_parents(const std::string& key) {
    std::string directory = key;
    while (directory.find('/') != std::string::npos) {
        directory = sys::parent_of(directory);
        forget_directory(path_of(directory));
        if (!env_.remove_directory(path_of(directory))) return;
    }
}

StoreResult<std::vector<RemoveFailure>> DirectoryStore::remove(const std::vector<std::string>& keys,
                                                               const Call& /*call*/) {
    std::vector<RemoveFailure> failures;
    for (const std::string& key : keys) {
        if (!is_path(key)) {
            failures.push_back({key, fault(StoreFault::invalid, key + ": not a key")});
            continue;
        }
        const auto gone = env_.unlink(path_of(key));
        const bool is_gone = gone || gone.error().code == ENOENT;
        if (is_gone) {
            // Also if it was gone before: who removed it may have died before the sync, and what is
            // removed next must not outlive it.
            const std::string directory = sys::parent_of(path_of(key));
            const auto synced = env_.sync_directory(directory);
            if (synced) {
                remove_empty_parents(key);
            } else if (synced.error().code != ENOENT) {
                failures.push_back({key, failed(synced.error())});
            }
        } else if (fault_of(gone.error().code) != StoreFault::not_found) {
            failures.push_back({key, failed(gone.error())});
        }
    }
    return failures;
}

}  // namespace

std::unique_ptr<aws::ObjectStore> open_directory(sys::Env& env, std::string root,
                                                 std::uint64_t part_size) {
    while (root.size() > 1 && root.ends_with('/')) root.pop_back();
    return std::make_unique<DirectoryStore>(env, std::move(root), part_size);
}

}  // namespace trainyard::store
