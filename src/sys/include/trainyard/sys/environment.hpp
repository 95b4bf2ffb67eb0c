#pragma once
// The only door to the world: files, the date, environment variables and the terminal.
// Every other module but cli is pure and gets these values as arguments.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trainyard/base/result.hpp"

namespace trainyard::sys {

/// Larger than any model description, price list or table of runs that we read.
inline constexpr std::size_t kDefaultReadLimit = std::size_t{256} << 20U;

/// The whole regular file; "-" is standard input. A file that is missing, unreadable, a directory,
/// a FIFO or a device is ErrorKind::world; one over `max_bytes` is ErrorKind::bad_input. Each says
/// what, why and the fix.
Result<std::string> read_file(const std::string& path, std::size_t max_bytes = kDefaultReadLimit);

/// Writes next to `path`, flushes to disk and renames, so a reader sees the old or the new file,
/// never half of one. Keeps the permissions of an existing file. ErrorKind::world with the reason.
Result<std::size_t> write_file(const std::string& path, std::string_view contents);

/// Sorted paths of the regular files in a directory whose names end in `suffix`. ErrorKind::world
/// if it is none.
Result<std::vector<std::string>> list_files(const std::string& directory, std::string_view suffix);

/// Today in UTC as "YYYY-MM-DD". TRAINYARD_TODAY overrides it for reproducible output; a value that
/// is no date is ErrorKind::bad_input.
Result<std::string> today();

/// nullopt if unset.
std::optional<std::string> get_env(const char* name);

enum class Stream { out, err };
bool is_terminal(Stream stream);
/// Columns of the terminal behind `stream`, COLUMNS if that is set; 80 if neither is known.
int terminal_width(Stream stream);

}  // namespace trainyard::sys
