#pragma once
// A directory as an ObjectStore: a shared file system, or a disk. What becomes visible is whole and
// on disk: temporary file, fsync, link or rename, fsync of the directory. Needs hard links for
// if_absent. Keys are relative paths: "", ".", ".." and NUL in a key are StoreFault::invalid.

#include <memory>

#include "trainyard/aws/object_store.hpp"
#include "trainyard/sys/env.hpp"

namespace trainyard::store {

inline constexpr std::uint64_t kDirectoryPart = std::uint64_t{8} << 20U;

/// `root` is made when the first object is written. All parts but the last have `part_size` bytes.
/// An upload lives in root/.trainyard/, as do the temporary files of puts: list_uploads names both.
std::unique_ptr<aws::ObjectStore> open_directory(sys::Env& env, std::string root,
                                                 std::uint64_t part_size = kDirectoryPart);

}  // namespace trainyard::store
