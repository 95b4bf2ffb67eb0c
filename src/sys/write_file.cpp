#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "trainyard/sys/environment.hpp"

namespace trainyard::sys {

namespace fs = std::filesystem;

namespace {

/// As many as Linux follows in one path.
constexpr int kMostLinks = 40;

/// Closes on every way out.
class Output {
  public:
    explicit Output(int fd) : fd_(fd) {}
    Output(const Output&) = delete;
    Output& operator=(const Output&) = delete;
    ~Output() { close(); }
    int get() const { return fd_; }
    /// 0, or the errno; some file systems say only now that a write failed.
    int close() {
        const int fd = std::exchange(fd_, -1);
        return fd >= 0 && ::close(fd) != 0 && errno != EINTR ? errno : 0;
    }

  private:
    int fd_;
};

std::string reason(int code) { return std::generic_category().message(code); }

Error world(const std::string& path, std::string why, std::string fix) {
    return {ErrorKind::world,
            {{.where = {path, 0, 0},
              .what = "the file cannot be written",
              .why = std::move(why),
              .fix = std::move(fix)}}};
}

Error no_name() {
    return {ErrorKind::usage,
            {{.where = {"-", 0, 0},
              .what = "\"-\" is no file to write to",
              .why = "standard output carries the command's own answer",
              .fix = "name a file; ./- if it is really called so"}}};
}

/// 0, or the errno of the write that failed.
int write_all(int fd, std::string_view contents) {
    while (!contents.empty()) {
        const ssize_t n = ::write(fd, contents.data(), contents.size());
        if (n < 0 && errno != EINTR) {
            return errno;
        }
        contents.remove_prefix(n < 0 ? 0 : static_cast<std::size_t>(n));
    }
    return 0;
}

/// A renamed file survives a power cut only once its directory is on disk too; failing that is no
/// error.
void sync_directory(const std::string& directory) {
    const Output fd(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (fd.get() >= 0) {
        ::fsync(fd.get());
    }
}

/// What a chain of symbolic links leads to, which need not exist yet; nothing if it has no end.
std::optional<std::string> target_of(const std::string& path) {
    fs::path target = path;
    for (int i = 0; i < kMostLinks; ++i) {
        std::error_code none;
        const fs::path next = fs::read_symlink(target, none);
        if (none) {
            return target.string();
        }
        target = next.is_absolute() ? next : target.parent_path() / next;
    }
    return std::nullopt;
}

bool is_same(const struct stat& a, const struct stat& b) {
    return a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

/// Replacing it would leave the stream writing to a file without a name.
bool is_own_stream(const struct stat& file) {
    struct stat stream{};
    return (::fstat(STDOUT_FILENO, &stream) == 0 && is_same(file, stream)) ||
           (::fstat(STDERR_FILENO, &stream) == 0 && is_same(file, stream));
}

Result<std::size_t> write_through(const std::string& path, std::string_view contents) {
    Output out(::open(path.c_str(), O_WRONLY | O_NOCTTY | O_CLOEXEC));
    if (out.get() < 0) {
        return world(path, reason(errno), "check its permissions");
    }
    int failure = write_all(out.get(), contents);
    if (failure == 0) {
        failure = out.close();
    }
    if (failure != 0) {
        return world(path, reason(failure), "check what reads or takes it");
    }
    return contents.size();
}

Result<std::size_t> replace(const std::string& path, std::string_view contents, mode_t mode) {
    std::string temporary = path + ".XXXXXX";
    Output out(::mkostemp(temporary.data(), O_CLOEXEC));
    if (out.get() < 0) {
        return world(path, reason(errno), "check that its directory exists and is writable");
    }
    int failure = write_all(out.get(), contents);
    if (failure == 0 && (::fchmod(out.get(), mode) != 0 || ::fsync(out.get()) != 0)) {
        failure = errno;
    }
    if (failure == 0) {
        failure = out.close();
    }
    if (failure == 0 && ::rename(temporary.c_str(), path.c_str()) != 0) {
        failure = errno;
    }
    if (failure != 0) {
        ::unlink(temporary.c_str());
        return world(path, reason(failure),
                     "check the free space and that its directory is writable");
    }
    const std::string directory = fs::path(path).parent_path().string();
    sync_directory(directory.empty() ? "." : directory);
    return contents.size();
}

}  // namespace

Result<std::size_t> write_file(const std::string& path, std::string_view contents) {
    if (path == "-") {
        return no_name();
    }
    struct stat old{};
    const bool exists = ::stat(path.c_str(), &old) == 0;
    if (exists && (S_ISFIFO(old.st_mode) || S_ISCHR(old.st_mode))) {
        return write_through(path, contents);
    }
    if (exists && !S_ISREG(old.st_mode)) {
        return world(path,
                     S_ISDIR(old.st_mode)    ? "this is a directory"
                     : S_ISSOCK(old.st_mode) ? "this is a socket"
                                             : "this is a disk",
                     "name a file");
    }
    if (exists && is_own_stream(old)) {
        return world(path, "standard output or standard error goes to this file",
                     "name another file");
    }
    const std::optional<std::string> target = target_of(path);
    if (!target) {
        return world(path, reason(ELOOP), "name another file");
    }
    const mode_t mask = ::umask(0);
    ::umask(mask);
    return replace(*target, contents, exists ? old.st_mode & 07777U : 0666U & ~mask);
}

bool is_same_file(const std::string& a, const std::string& b) {
    struct stat first{};
    struct stat second{};
    return ::stat(a.c_str(), &first) == 0 && ::stat(b.c_str(), &second) == 0 &&
           is_same(first, second);
}

void fill_missing_streams() {
    // The wrong way round: what is read or written there then fails (EBADF) as it would have.
    constexpr std::array<int, 3> kModes = {O_WRONLY, O_RDONLY, O_RDONLY};
    for (int fd = 0; fd < static_cast<int>(kModes.size()); ++fd) {
        if (::fcntl(fd, F_GETFD) < 0 && errno == EBADF) {
            // The lowest free number, which is fd.
            if (::open("/dev/null", kModes[static_cast<std::size_t>(fd)]) < 0) {
                return;
            }
        }
    }
}

}  // namespace trainyard::sys
