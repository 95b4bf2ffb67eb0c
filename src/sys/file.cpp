#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "trainyard/sys/environment.hpp"

namespace trainyard::sys {

namespace {

/// Closes on every way out.
class Descriptor {
  public:
    explicit Descriptor(int fd) : fd_(fd) {}
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    ~Descriptor() {
        if (fd_ > STDERR_FILENO) {
            ::close(fd_);
        }
    }
    int get() const { return fd_; }

  private:
    int fd_;
};

std::string reason(int code) { return std::generic_category().message(code); }

Error world(const std::string& path, std::string what, std::string why, std::string fix) {
    return {ErrorKind::world,
            {{.where = {path, 0, 0},
              .what = std::move(what),
              .why = std::move(why),
              .fix = std::move(fix)}}};
}

Error cannot_open(const std::string& path, int code) {
    if (code == ENOENT || code == ENOTDIR) {
        return world(path, "the file does not exist", {},
                     "check the path; it is relative to the current directory");
    }
    if (code == EACCES) {
        return world(path, "the file cannot be read", reason(code), "check its permissions");
    }
    return world(path, "the file cannot be opened", reason(code), {});
}

Error too_large(const std::string& path, std::size_t max_bytes) {
    return bad_input({.where = {path, 0, 0},
                      .what = fmt::format("the file is larger than {} MiB", max_bytes >> 20U),
                      .why = "nothing that is read here needs that much",
                      .fix = "check that this is the file that you meant"});
}

std::string_view kind_of(mode_t mode) {
    if (S_ISDIR(mode)) {
        return "a directory";
    }
    if (S_ISFIFO(mode)) {
        return "a pipe";
    }
    return S_ISSOCK(mode) ? "a socket" : "a device";
}

Result<std::size_t> read_descriptor(int fd, const std::string& path, const TakeChunk& take) {
    std::array<char, 65536> chunk{};
    std::size_t all = 0;
    while (true) {
        const ssize_t n = ::read(fd, chunk.data(), chunk.size());
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n < 0) {
            return world(path, "the file cannot be read", reason(errno), {});
        }
        if (n == 0) {
            return all;
        }
        all += static_cast<std::size_t>(n);
        if (!take({chunk.data(), static_cast<std::size_t>(n)})) {
            return all;
        }
    }
}

}  // namespace

Result<std::size_t> read_chunks(const std::string& path, const TakeChunk& take) {
    if (path == "-") {
        return read_descriptor(STDIN_FILENO, "standard input", take);
    }
    // O_NONBLOCK: opening a FIFO that nobody writes to must not hang.
    const Descriptor fd(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
    if (fd.get() < 0) {
        return cannot_open(path, errno);
    }
    struct stat status{};
    if (::fstat(fd.get(), &status) != 0) {
        return cannot_open(path, errno);
    }
    if (!S_ISREG(status.st_mode)) {
        return world(path, fmt::format("this is {}, not a file", kind_of(status.st_mode)), {},
                     "name a regular file, or - for standard input");
    }
    return read_descriptor(fd.get(), path, take);
}

Result<std::string> read_file(const std::string& path, std::size_t max_bytes) {
    std::string contents;
    const auto read = read_chunks(path, [&](std::string_view chunk) {
        const bool fits = chunk.size() <= max_bytes - contents.size();
        if (fits) {
            contents += chunk;
        }
        return fits;
    });
    if (!read) {
        return read.error();
    }
    if (*read > max_bytes) {
        return too_large(path == "-" ? "standard input" : path, max_bytes);
    }
    return contents;
}

Result<std::vector<std::string>> list_files(const std::string& directory, std::string_view suffix) {
    std::error_code failure;
    std::vector<std::string> paths;
    std::filesystem::directory_iterator entry(directory, failure);
    while (!failure && entry != std::filesystem::directory_iterator()) {
        std::error_code ignored;
        if (entry->is_regular_file(ignored) && entry->path().string().ends_with(suffix)) {
            paths.push_back(entry->path().string());
        }
        entry.increment(failure);
    }
    if (failure) {
        return world(directory, "the directory cannot be read", failure.message(),
                     "name a directory that exists and is readable");
    }
    std::sort(paths.begin(), paths.end());
    return paths;
}

}  // namespace trainyard::sys
