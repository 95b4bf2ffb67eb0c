#pragma once
// What a long-lived writer needs of the machine: files with offsets, durability, clocks, processes.
// An interface, so that a test can lose power or fail at any single call (memory_env.hpp).
// Paths are bytes. Errors carry the errno, because the caller decides what ENOENT or EEXIST means.

#include <tl/expected.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "trainyard/base/result.hpp"

namespace trainyard::sys {

/// One system call that failed.
struct IoError {
    int code = 0;  ///< errno
    std::string path;
    std::string operation;  ///< "open", "write", …

    /// ErrorKind::world: "path: error: the file cannot be …".
    Error as_error() const;
};

template <typename T>
class [[nodiscard]] IoResult : public tl::expected<T, IoError> {
  public:
    using tl::expected<T, IoError>::expected;
    // Implicit, so that a function can return an IoError where it declares a result.
    // NOLINTNEXTLINE(google-explicit-constructor)
    IoResult(IoError e) : tl::expected<T, IoError>(tl::unexpect, std::move(e)) {}
};
struct Done {};
using IoDone = IoResult<Done>;

enum class FileKind { file, directory, other };

struct FileStatus {
    FileKind kind = FileKind::file;
    std::uint64_t size = 0;        ///< bytes
    std::int64_t modified_ns = 0;  ///< nanoseconds since 1970, UTC
    std::uint64_t inode = 0;
};

struct DirectoryEntry {
    std::string name;
    /// A symbolic link to a file is a file, to anything else it is `other`: no loops.
    FileKind kind = FileKind::file;
};

/// Closes at the end of its life; closing reports nothing, so sync() what must last.
class File {
  public:
    File() = default;
    virtual ~File() = default;
    File(const File&) = delete;
    File& operator=(const File&) = delete;
    /// Bytes read; fewer than asked for only at the end of the file.
    virtual IoResult<std::size_t> read_at(std::uint64_t offset, std::span<char> into) = 0;
    /// All bytes or an error.
    virtual IoDone write_at(std::uint64_t offset, std::string_view bytes) = 0;
    virtual IoDone sync() = 0;
    virtual IoResult<FileStatus> status() = 0;
};

/// Who holds a lock or an upload: enough to tell a live process from a dead one.
struct ProcessId {
    std::string host;
    std::string boot;         ///< differs after each boot of the host
    std::int64_t pid = 0;     ///< 0: unknown
    std::uint64_t start = 0;  ///< start time in clock ticks since boot; tells a reused pid
    bool operator==(const ProcessId&) const = default;
};

class Env {
  public:
    Env() = default;
    virtual ~Env() = default;
    Env(const Env&) = delete;
    Env& operator=(const Env&) = delete;

    virtual IoResult<std::unique_ptr<File>> open(const std::string& path) = 0;  ///< to read
    /// A new file to write and read; EEXIST if the name is taken.
    virtual IoResult<std::unique_ptr<File>> create(const std::string& path) = 0;
    /// An existing file to write and read.
    virtual IoResult<std::unique_ptr<File>> open_to_write(const std::string& path) = 0;
    virtual IoResult<FileStatus> status(const std::string& path) = 0;
    /// Without "." and ".."; in no order.
    virtual IoResult<std::vector<DirectoryEntry>> list(const std::string& directory) = 0;
    virtual IoDone make_directory(const std::string& path) = 0;  ///< EEXIST if it is there
    virtual IoDone rename(const std::string& from, const std::string& to) = 0;
    virtual IoDone link(const std::string& from, const std::string& to) = 0;  ///< EEXIST
    virtual IoDone unlink(const std::string& path) = 0;
    virtual IoDone remove_directory(const std::string& path) = 0;  ///< ENOTEMPTY
    /// Makes the names in a directory last.
    virtual IoDone sync_directory(const std::string& path) = 0;

    virtual std::int64_t now_ns() = 0;     ///< nanoseconds since 1970, UTC
    virtual std::int64_t steady_ns() = 0;  ///< monotonic
    virtual void sleep_ns(std::int64_t nanoseconds) = 0;
    virtual std::uint64_t random() = 0;
    virtual ProcessId self() = 0;
    /// False only if it is certain: same host, and the process is gone or the host was rebooted.
    virtual bool may_be_alive(const ProcessId& process) = 0;
};

/// The machine itself. Safe to use from many threads.
Env& real_env();

/// The whole file, at most `max_bytes` (EFBIG beyond).
IoResult<std::string> read_whole(Env& env, const std::string& path, std::uint64_t max_bytes);
/// `path` and its missing parents, each synced into its parent.
IoDone make_directories(Env& env, const std::string& path);
/// "a/b" of "a/b/c"; "." of "c"; "/" of "/c".
std::string parent_of(std::string_view path);

}  // namespace trainyard::sys
