#pragma once
// The files below a directory, as they were at one moment.

#include <cstdint>
#include <string>
#include <vector>

#include "trainyard/base/result.hpp"
#include "trainyard/sys/env.hpp"

namespace trainyard::store {

struct TreeFile {
    std::string path;  ///< relative, components joined by "/"; any bytes but NUL
    std::uint64_t size = 0;
    std::int64_t modified_ns = 0;
    std::uint64_t inode = 0;
    bool operator==(const TreeFile&) const = default;
};

struct Tree {
    std::string root;                  ///< the directory, as given
    std::vector<TreeFile> files;       ///< sorted by path
    std::vector<std::string> skipped;  ///< neither files nor directories
    std::uint64_t bytes = 0;
    std::int64_t newest_ns = 0;  ///< the latest modification
    bool vanished = false;       ///< something disappeared while it was read

    const TreeFile* find(std::string_view path) const;
};

/// A directory, or a single file (then a tree of one, its parent the root). ErrorKind::world if it
/// cannot be read, ErrorKind::bad_input over two million entries or 32 levels.
Result<Tree> read_tree(sys::Env& env, const std::string& path);

}  // namespace trainyard::store
