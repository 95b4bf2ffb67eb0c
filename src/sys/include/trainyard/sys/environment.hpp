#pragma once
// The only door to the world: files, the date, environment variables and the terminal.
// Every other module but cli is pure and gets these values as arguments.

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trainyard/base/result.hpp"
#include "trainyard/base/units.hpp"

namespace trainyard::sys {

/// Larger than any model description, price list or table of runs that we read.
inline constexpr std::size_t kDefaultReadLimit = std::size_t{256} << 20U;

/// The whole regular file; "-" is standard input. A file that is missing, unreadable, a directory,
/// a FIFO or a device is ErrorKind::world; one over `max_bytes` is ErrorKind::bad_input. Each says
/// what, why and the fix.
Result<std::string> read_file(const std::string& path, std::size_t max_bytes = kDefaultReadLimit);

/// The same file in pieces of at most 64 KiB, of any length in all; until `take` returns false.
/// Returns the bytes read.
using TakeChunk = std::function<bool(std::string_view)>;
Result<std::size_t> read_chunks(const std::string& path, const TakeChunk& take);

/// A regular file is written next to `path`, flushed to disk and renamed, so a reader sees the old
/// or the new file, never half of one; permissions of an existing file are kept. Through a symbolic
/// link its target is written and the link stays. A pipe or a character device is opened and
/// written to (a pipe waits for its reader). Refused: a directory, a socket, a disk, the file that
/// standard output or standard error goes to (ErrorKind::world) and "-" (ErrorKind::usage).
Result<std::size_t> write_file(const std::string& path, std::string_view contents);

/// Both exist and are one file, whatever its names.
bool is_same_file(const std::string& a, const std::string& b);

/// A program may be started with descriptor 0, 1 or 2 closed; the next file opened would get that
/// number and be mistaken for a standard stream. Fills each gap so that its use fails: a closed
/// standard output is an error once something is printed. Called first in main.
void fill_missing_streams();

/// Sorted paths of the regular files in a directory whose names end in `suffix`. ErrorKind::world
/// if it is none.
Result<std::vector<std::string>> list_files(const std::string& directory, std::string_view suffix);

/// Today in UTC as "YYYY-MM-DD". TRAINYARD_TODAY overrides it for reproducible output; a value that
/// is no date is ErrorKind::bad_input.
Result<std::string> today();
/// Since midnight, UTC; below a day. 0 while TRAINYARD_TODAY is set.
Seconds time_of_day();

/// nullopt if unset.
std::optional<std::string> get_env(const char* name);

enum class Stream { out, err };
bool is_terminal(Stream stream);
/// Columns of the terminal behind `stream`, COLUMNS if that is set; 80 if neither is known.
int terminal_width(Stream stream);

}  // namespace trainyard::sys
