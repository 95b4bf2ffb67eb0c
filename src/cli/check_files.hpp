#pragma once
// The files that `trainyard check` is given: read, and looked for in directories.

#include <string>
#include <vector>

#include "trainyard/base/diagnostic.hpp"
#include "trainyard/base/result.hpp"
#include "trainyard/lint/check.hpp"

namespace trainyard::cli {

struct CheckFiles {
    std::vector<lint::SourceText> texts;
    std::vector<Diagnostic> diagnostics;  ///< named files that are no text
};

/// Paths are files, directories or "-". In a directory: regular files up to 4 MiB whose name may
/// belong to a configuration, sorted; links to directories are not followed, hidden directories and
/// those of package managers are left out. ErrorKind::world if a named file cannot be read or a
/// walk meets more than 100,000 files.
Result<CheckFiles> read_check_files(const std::vector<std::string>& paths);

}  // namespace trainyard::cli
