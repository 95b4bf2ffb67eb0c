// Env on POSIX. EINTR is retried everywhere; short reads and writes are continued.

#include <dirent.h>
#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <ctime>

#include "trainyard/sys/env.hpp"

namespace trainyard::sys {

namespace {

FileKind kind_of(mode_t mode) {
    if (S_ISDIR(mode)) return FileKind::directory;
    return S_ISREG(mode) ? FileKind::file : FileKind::other;
}

constexpr std::int64_t kNanoseconds = 1'000'000'000;

FileStatus status_of(const struct stat& s) {
    return {.kind = kind_of(s.st_mode),
            .size = static_cast<std::uint64_t>(s.st_size),
            .modified_ns = s.st_mtim.tv_sec * kNanoseconds + s.st_mtim.tv_nsec,
            .inode = s.st_ino};
}

class RealFile : public File {
  public:
    RealFile(int fd, std::string path) : fd_(fd), path_(std::move(path)) {}
    RealFile(const RealFile&) = delete;
    RealFile& operator=(const RealFile&) = delete;
    ~RealFile() override { ::close(fd_); }

    IoResult<std::size_t> read_at(std::uint64_t offset, std::span<char> into) override {
        std::size_t filled = 0;
        while (filled < into.size()) {
            const ssize_t n = ::pread(fd_, into.data() + filled, into.size() - filled,
                                      static_cast<off_t>(offset + filled));
            if (n < 0 && errno == EINTR) continue;
            if (n < 0) return IoError{errno, path_, "read"};
            if (n == 0) break;
            filled += static_cast<std::size_t>(n);
        }
        return filled;
    }

    IoDone write_at(std::uint64_t offset, std::string_view bytes) override {
        while (!bytes.empty()) {
            // Larger ones make Linux 6.18's ext4 take fresh large pages: eight times the CPU time
            // (bench/README.md).
            constexpr std::size_t kMostAtOnce = std::size_t{256} << 10U;
            const std::size_t size = std::min(bytes.size(), kMostAtOnce);
            const ssize_t n = ::pwrite(fd_, bytes.data(), size, static_cast<off_t>(offset));
            if (n < 0 && errno == EINTR) continue;
            if (n < 0) return IoError{errno, path_, "write"};
            bytes.remove_prefix(static_cast<std::size_t>(n));
            offset += static_cast<std::uint64_t>(n);
        }
        return Done{};
    }

    IoDone sync() override {
        while (::fsync(fd_) != 0) {
            if (errno != EINTR) return IoError{errno, path_, "sync"};
        }
        return Done{};
    }

    IoResult<FileStatus> status() override {
        struct stat s{};
        if (::fstat(fd_, &s) != 0) return IoError{errno, path_, "status"};
        return status_of(s);
    }

  private:
    int fd_;
    std::string path_;
};

IoDone checked(int outcome, const std::string& path, const char* operation) {
    if (outcome != 0) return IoError{errno, path, operation};
    return Done{};
}

IoResult<std::unique_ptr<File>> opened(const std::string& path, int flags, const char* operation) {
    int fd = -1;
    do {
        fd = ::open(path.c_str(), flags | O_CLOEXEC, 0666);
    } while (fd < 0 && errno == EINTR);
    if (fd < 0) return IoError{errno, path, operation};
    return std::unique_ptr<File>(std::make_unique<RealFile>(fd, path));
}

std::int64_t clock_ns(clockid_t clock) {
    struct timespec t{};
    ::clock_gettime(clock, &t);
    return t.tv_sec * kNanoseconds + t.tv_nsec;
}

std::string first_line(const char* path) {
    std::array<char, 256> text{};
    const int fd = ::open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return {};
    const ssize_t n = ::read(fd, text.data(), text.size());
    ::close(fd);
    const std::string all(text.data(), n > 0 ? static_cast<std::size_t>(n) : 0);
    return all.substr(0, all.find('\n'));
}

/// Field 22 of /proc/PID/stat; 0 if there is no such process, or only its end waits to be read: in
/// a container whose first process reaps nobody that lasts for ever.
std::uint64_t start_of(std::int64_t pid) {
    const std::string path = "/proc/" + std::to_string(pid) + "/stat";
    std::string line = first_line(path.c_str());
    // The name of the program (field 2, in parentheses) may hold blanks.
    const std::size_t end = line.rfind(')');
    if (end == std::string::npos) return 0;
    line.erase(0, end + 1);
    std::size_t at = 0;
    for (int field = 3; field <= 22; ++field) {
        at = line.find_first_not_of(' ', at);
        if (at == std::string::npos) return 0;
        if (field == 3 && (line[at] == 'Z' || line[at] == 'X')) return 0;
        if (field == 22) return std::strtoull(line.c_str() + at, nullptr, 10);
        at = line.find(' ', at);
    }
    return 0;
}

class RealEnv : public Env {
  public:
    IoResult<std::unique_ptr<File>> open(const std::string& path) override {
        // O_NONBLOCK: opening a FIFO that nobody writes to must not hang.
        return opened(path, O_RDONLY | O_NONBLOCK, "open");
    }
    IoResult<std::unique_ptr<File>> create(const std::string& path) override {
        return opened(path, O_RDWR | O_CREAT | O_EXCL, "create");
    }
    IoResult<std::unique_ptr<File>> open_to_write(const std::string& path) override {
        return opened(path, O_RDWR, "open");
    }
    IoResult<FileStatus> status(const std::string& path) override {
        struct stat s{};
        if (::stat(path.c_str(), &s) != 0) return IoError{errno, path, "status"};
        return status_of(s);
    }
    IoResult<std::vector<DirectoryEntry>> list(const std::string& directory) override;
    IoDone make_directory(const std::string& path) override {
        return checked(::mkdir(path.c_str(), 0777), path, "make directory");
    }
    IoDone rename(const std::string& from, const std::string& to) override {
        return checked(::rename(from.c_str(), to.c_str()), to, "rename");
    }
    IoDone link(const std::string& from, const std::string& to) override {
        return checked(::link(from.c_str(), to.c_str()), to, "link");
    }
    IoDone unlink(const std::string& path) override {
        return checked(::unlink(path.c_str()), path, "unlink");
    }
    IoDone remove_directory(const std::string& path) override {
        return checked(::rmdir(path.c_str()), path, "remove directory");
    }
    IoDone sync_directory(const std::string& path) override {
        const auto directory = opened(path, O_RDONLY | O_DIRECTORY, "open");
        if (!directory) return directory.error();
        return (*directory)->sync();
    }
    std::int64_t now_ns() override { return clock_ns(CLOCK_REALTIME); }
    std::int64_t steady_ns() override { return clock_ns(CLOCK_MONOTONIC); }
    void sleep_ns(std::int64_t nanoseconds) override {
        const struct timespec t{.tv_sec = nanoseconds / kNanoseconds,
                                .tv_nsec = nanoseconds % kNanoseconds};
        ::nanosleep(&t, nullptr);  // a signal ends it early, which is what a signal is for
    }
    std::uint64_t random() override {
        std::uint64_t value = 0;
        // Up to 256 bytes never fail once the kernel's pool is ready.
        if (::getrandom(&value, sizeof value, 0) != static_cast<ssize_t>(sizeof value)) {
            value = static_cast<std::uint64_t>(steady_ns()) * 0x9e3779b97f4a7c15U;
        }
        return value;
    }
    ProcessId self() override {
        std::array<char, 256> host{};
        ::gethostname(host.data(), host.size() - 1);
        const std::int64_t pid = ::getpid();
        return {.host = host.data(), .boot = boot(), .pid = pid, .start = start_of(pid)};
    }
    bool may_be_alive(const ProcessId& process) override {
        const ProcessId me = self();
        if (process.host != me.host || process.pid <= 0) return true;
        if (process.boot != me.boot) return false;
        return start_of(process.pid) == process.start;
    }

  private:
    static std::string boot() { return first_line("/proc/sys/kernel/random/boot_id"); }
};

IoResult<std::vector<DirectoryEntry>> RealEnv::list(const std::string& directory) {
    DIR* stream = ::opendir(directory.c_str());
    if (stream == nullptr) return IoError{errno, directory, "list"};
    std::vector<DirectoryEntry> entries;
    errno = 0;
    // Each call has its own stream, so the static buffer of older C libraries is no issue.
    while (const dirent* entry = ::readdir(stream)) {  // NOLINT(concurrency-mt-unsafe)
        const std::string name = entry->d_name;
        if (name == "." || name == "..") continue;
        FileKind kind = FileKind::other;
        struct stat link{};
        std::string full = directory;
        full.append("/").append(name);
        if (entry->d_type == DT_REG) {
            kind = FileKind::file;
        } else if (entry->d_type == DT_DIR) {
            kind = FileKind::directory;
        } else if (::lstat(full.c_str(), &link) == 0) {
            kind = kind_of(link.st_mode);
            const auto target = status(full);
            if (S_ISLNK(link.st_mode) && target && target->kind == FileKind::file) {
                kind = FileKind::file;
            }
        }
        entries.push_back({name, kind});
        errno = 0;
    }
    const int failure = errno;
    ::closedir(stream);
    if (failure != 0) return IoError{failure, directory, "list"};
    return entries;
}

}  // namespace

Env& real_env() {
    static RealEnv env;
    return env;
}

}  // namespace trainyard::sys
