#pragma once
// What a store keeps of one checkpoint: docs/reference/store-manifest.md. A manifest is text, one
// JSON object a line: a head, a line for each file, an end with the checksum of all before it, so
// that a torn or altered one is never taken for whole.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trainyard/aws/checksum.hpp"
#include "trainyard/base/result.hpp"

namespace trainyard::store {

inline constexpr int kManifestVersion = 1;
inline constexpr aws::ChecksumAlgorithm kContentChecksum = aws::ChecksumAlgorithm::crc64nvme;

struct StoredFile {
    std::string path;  ///< relative, as on disk; any bytes but NUL
    std::uint64_t size = 0;
    std::uint64_t checksum = 0;  ///< CRC-64/NVME of the contents
    std::string object;  ///< key below the store's prefix; may belong to an older checkpoint
    int node = 0;
    std::uint64_t part_size = 0;       ///< bytes of each part but the last; 0: one part
    std::vector<std::uint64_t> parts;  ///< CRC-64/NVME of each; empty: one part
    bool operator==(const StoredFile&) const = default;
};

enum class ManifestState {
    committed,
    aborted,  ///< a tombstone: this id will never be committed
    shard,    ///< of one node; not yet a checkpoint
    intent,   ///< what a writer is about to send; no checksums
};

struct Manifest {
    ManifestState state = ManifestState::committed;
    std::string id;
    std::int64_t step = 0;
    std::string layout;
    int nodes = 1;
    int node = 0;              ///< of a shard or an intent
    std::string attempt;       ///< what tells two saves of the same step apart
    std::int64_t created = 0;  ///< seconds since 1970, UTC
    std::string created_by;    ///< "trainyard 0.1.0"
    std::string owner;         ///< of an intent: host and directory
    std::string host;          ///< of an intent: the process at work
    std::string boot;
    std::int64_t pid = 0;
    std::uint64_t start = 0;
    std::vector<StoredFile> files;
    bool operator==(const Manifest&) const = default;

    std::uint64_t bytes() const;
};

std::string write_manifest(const Manifest& manifest);
/// ErrorKind::bad_input: no manifest, a torn or altered one, or of a newer version than this
/// program reads.
Result<Manifest> read_manifest(std::string_view text, std::string_view file);

/// Bytes that JSON or a key cannot hold (control, not UTF-8, "%") as %XX; the rest as it is.
std::string escape_path(std::string_view path);
std::optional<std::string> unescape_path(std::string_view text);
/// "2026-12-01T08:00:00Z".
std::string format_time(std::int64_t seconds);

}  // namespace trainyard::store
