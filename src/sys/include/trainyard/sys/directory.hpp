#pragma once
// A directory written as a whole: there is the old state or the new one, never half of it.

#include <string>
#include <vector>

#include "trainyard/base/result.hpp"

namespace trainyard::sys {

struct NewFile {
    std::string path;  ///< relative to the directory; '/' between parts
    std::string contents;
    bool executable = false;
};

enum class Existing {
    refuse,  ///< a directory that holds anything is ErrorKind::world
    replace  ///< files of the same name are replaced one by one, all others stay
};

/// Writes into a fresh directory beside `path`, flushes and renames. With Existing::replace on a
/// directory that holds files, each file is replaced by a rename of its own, unless a link
/// or something else than a file is in the way of one: then nothing is written. A `path` that is a
/// link means the directory behind it. Returns the number of
/// files.
Result<std::size_t> write_directory(const std::string& path, const std::vector<NewFile>& files,
                                    Existing existing);

}  // namespace trainyard::sys
