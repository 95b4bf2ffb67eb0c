#include "trainyard/sys/child.hpp"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <map>

namespace trainyard::sys {

namespace {

/// Our environment with the changes.
std::vector<std::string> environment_of(const std::vector<std::string>& changes) {
    std::map<std::string, std::string> values;
    for (char** at = environ; *at != nullptr; ++at) {
        const std::string entry = *at;
        values[entry.substr(0, entry.find('='))] = entry;
    }
    for (const std::string& change : changes) {
        const std::size_t equals = change.find('=');
        if (equals == std::string::npos) {
            values.erase(change);
        } else {
            values[change.substr(0, equals)] = change;
        }
    }
    std::vector<std::string> made;
    made.reserve(values.size());
    for (auto& [name, entry] : values) made.push_back(std::move(entry));
    return made;
}

std::vector<char*> pointers(const std::vector<std::string>& words) {
    std::vector<char*> made;
    made.reserve(words.size() + 1);
    for (const std::string& word : words) made.push_back(const_cast<char*>(word.c_str()));
    made.push_back(nullptr);
    return made;
}

ChildEnd end_of(int status) {
    if (WIFSIGNALED(status)) return {.code = 0, .signal = WTERMSIG(status)};
    return {.code = WEXITSTATUS(status), .signal = 0};
}

std::optional<ChildEnd> waited(std::int64_t pid, int options) {
    int status = 0;
    pid_t got = -1;
    do {
        got = ::waitpid(static_cast<pid_t>(pid), &status, options);
    } while (got < 0 && errno == EINTR);
    if (got <= 0) return std::nullopt;
    return end_of(status);
}

/// A small file of /proc, which has no size of its own.
std::string read_proc(const std::string& path) {
    std::string text;
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) return text;
    std::array<char, 8192> buffer{};
    ssize_t n = 0;
    while ((n = ::read(fd, buffer.data(), buffer.size())) > 0) {
        text.append(buffer.data(), static_cast<std::size_t>(n));
    }
    ::close(fd);
    return text;
}

std::vector<std::int64_t> all_processes() {
    std::vector<std::int64_t> pids;
    const auto entries = real_env().list("/proc");
    if (!entries) return pids;
    for (const DirectoryEntry& entry : *entries) {
        std::int64_t pid = 0;
        const char* end = entry.name.data() + entry.name.size();
        const auto parsed = std::from_chars(entry.name.data(), end, pid);
        if (parsed.ec == std::errc() && parsed.ptr == end) pids.push_back(pid);
    }
    return pids;
}

/// What follows the program's name in /proc/PID/stat: state, parent, group …
std::vector<std::string> stat_fields(std::int64_t pid) {
    const std::string stat = read_proc("/proc/" + std::to_string(pid) + "/stat");
    std::vector<std::string> fields;
    const std::size_t close = stat.rfind(')');
    if (close == std::string::npos) return fields;
    std::size_t at = close + 1;
    while ((at = stat.find_first_not_of(" \n", at)) != std::string::npos) {
        const std::size_t end = std::min(stat.find_first_of(" \n", at), stat.size());
        fields.push_back(stat.substr(at, end - at));
        at = end;
    }
    return fields;
}

std::vector<std::int64_t> descendants(std::int64_t root) {
    std::multimap<std::int64_t, std::int64_t> children;
    for (const std::int64_t pid : all_processes()) {
        const auto fields = stat_fields(pid);
        if (fields.size() > 1) children.emplace(std::strtoll(fields[1].c_str(), nullptr, 10), pid);
    }
    std::vector<std::int64_t> found;
    std::vector<std::int64_t> open{root};
    while (!open.empty()) {
        const std::int64_t parent = open.back();
        open.pop_back();
        const auto [first, last] = children.equal_range(parent);
        for (auto at = first; at != last; ++at) {
            found.push_back(at->second);
            open.push_back(at->second);
        }
    }
    return found;
}

}  // namespace

IoResult<ProcessId> start_child(const ChildRequest& request) {
    const std::vector<std::string> environment = environment_of(request.environment);
    std::vector<char*> arguments = pointers(request.command);
    std::vector<char*> variables = pointers(environment);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    if (!request.output.empty()) {
        posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, request.output.c_str(),
                                         O_WRONLY | O_CREAT | O_APPEND, 0666);
        posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
    }
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    sigset_t none;
    sigemptyset(&none);
    sigset_t all;
    sigfillset(&all);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &all);
    const int group = request.own_session ? POSIX_SPAWN_SETSID : POSIX_SPAWN_SETPGROUP;
    posix_spawnattr_setpgroup(&attributes, 0);
    posix_spawnattr_setflags(
        &attributes, static_cast<short>(group | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF));
    pid_t pid = 0;
    const int code = ::posix_spawnp(&pid, arguments[0], &actions, &attributes, arguments.data(),
                                    variables.data());
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    if (code != 0) return IoError{code, request.command[0], "start"};
    return identify(pid);
}

std::optional<ChildEnd> wait_for_child(std::int64_t pid) { return waited(pid, 0); }
std::optional<ChildEnd> poll_child(std::int64_t pid) { return waited(pid, WNOHANG); }

void adopt_orphans() { ::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); }

int end_descendants(Env& env, std::int64_t grace_ns) {
    const std::int64_t begun = env.steady_ns();
    int most = 0;
    bool is_asked = false;
    while (true) {
        while (::waitpid(-1, nullptr, WNOHANG) > 0) {
        }
        const auto left = descendants(::getpid());
        if (left.empty()) return most;
        most = std::max(most, static_cast<int>(left.size()));
        const bool is_over = env.steady_ns() - begun >= grace_ns;
        for (const std::int64_t pid : left) {
            if (is_over || !is_asked) signal_process(pid, is_over ? SIGKILL : SIGTERM);
        }
        is_asked = true;
        env.sleep_ns(20'000'000);
    }
}

ProcessId identify(std::int64_t pid) {
    ProcessId id = real_env().self();
    const auto fields = stat_fields(pid);
    constexpr std::size_t kStart = 19;  // field 22, counted from the state (field 3)
    id.pid = fields.size() > kStart ? pid : 0;
    id.start = id.pid == 0 ? 0 : std::strtoull(fields[kStart].c_str(), nullptr, 10);
    return id;
}

std::vector<std::int64_t> processes_marked(std::string_view mark) {
    std::string wanted(1, '\0');
    wanted.append(mark).append(1, '\0');
    std::vector<std::int64_t> found;
    for (const std::int64_t pid : all_processes()) {
        if (pid == ::getpid()) continue;
        const std::string path = "/proc/" + std::to_string(pid) + "/environ";
        const std::string environment = std::string(1, '\0') + read_proc(path);
        if (environment.find(wanted) != std::string::npos) found.push_back(pid);
    }
    return found;
}

std::size_t end_processes(Env& env, std::vector<ProcessId> processes, std::int64_t limit_ns) {
    constexpr std::int64_t kNapNs = 5'000'000;
    const std::int64_t begun = env.steady_ns();
    while (true) {
        std::erase_if(processes,
                      [&](const ProcessId& p) { return p.pid == 0 || !env.may_be_alive(p); });
        if (processes.empty() || env.steady_ns() - begun >= limit_ns) return processes.size();
        for (const ProcessId& p : processes) signal_process(p.pid, SIGKILL);
        env.sleep_ns(kNapNs);
    }
}

bool catches_signal(std::int64_t pid, int signal) {
    const std::string status = read_proc("/proc/" + std::to_string(pid) + "/status");
    const std::size_t at = status.find("\nSigCgt:");
    if (at == std::string::npos) return false;
    const auto caught = std::strtoull(status.c_str() + at + 8, nullptr, 16);
    return ((caught >> static_cast<unsigned>(signal - 1)) & 1U) != 0;
}

std::string describe_process(std::int64_t pid) {
    const std::string proc = "/proc/" + std::to_string(pid);
    std::string name = read_proc(proc + "/comm");
    while (name.ends_with('\n')) name.pop_back();
    const auto fields = stat_fields(pid);
    const std::string state = fields.empty() ? "?" : fields[0];
    const std::string where = read_proc(proc + "/wchan");  // "0" without the right to see it
    std::string text = std::to_string(pid) + " " + name + " " + state;
    return where.empty() || where == "0" ? text : text + " " + where;
}

void signal_process(std::int64_t pid, int signal) {
    if (pid > 1) ::kill(static_cast<pid_t>(pid), signal);
}
void signal_group(std::int64_t group, int signal) {
    if (group > 1) ::kill(-static_cast<pid_t>(group), signal);
}

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
    if (this != &other) {
        if (fd_ >= 0) ::close(fd_);
        fd_ = other.release();
    }
    return *this;
}
Descriptor::~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
}
int Descriptor::release() {
    const int fd = fd_;
    fd_ = -1;
    return fd;
}

Descriptor watch_process(std::int64_t pid) {
    return Descriptor(static_cast<int>(::syscall(SYS_pidfd_open, static_cast<pid_t>(pid), 0)));
}

SignalQueue::SignalQueue(const std::vector<int>& signals) : signals_(signals) {
    sigset_t set;
    sigemptyset(&set);
    for (const int signal : signals) sigaddset(&set, signal);
    ::pthread_sigmask(SIG_BLOCK, &set, nullptr);
    fd_ = Descriptor(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
}
SignalQueue::~SignalQueue() {
    take();  // else the ones that came last would act now
    sigset_t set;
    sigemptyset(&set);
    for (const int signal : signals_) sigaddset(&set, signal);
    ::pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
}
std::vector<int> SignalQueue::take() {
    std::vector<int> taken;
    signalfd_siginfo info{};
    while (::read(fd_.get(), &info, sizeof info) == static_cast<ssize_t>(sizeof info)) {
        taken.push_back(static_cast<int>(info.ssi_signo));
    }
    return taken;
}

Wakeup::Wakeup() : fd_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}
void Wakeup::ring() const {
    const std::uint64_t one = 1;
    [[maybe_unused]] const auto written = ::write(fd_.get(), &one, sizeof one);
}
void Wakeup::clear() const {
    std::uint64_t count = 0;
    [[maybe_unused]] const auto got = ::read(fd_.get(), &count, sizeof count);
}

void wait_readable(const std::vector<int>& descriptors, std::int64_t timeout_ns) {
    std::vector<pollfd> polled;
    for (const int fd : descriptors) {
        if (fd >= 0) polled.push_back({.fd = fd, .events = POLLIN, .revents = 0});
    }
    constexpr std::int64_t kMillisecondNs = 1'000'000;
    const std::int64_t ms =
        std::clamp<std::int64_t>((timeout_ns + kMillisecondNs - 1) / kMillisecondNs, 0, 3'600'000);
    ::poll(polled.data(), polled.size(), static_cast<int>(ms));
}

IoResult<std::optional<Descriptor>> lock_file(const std::string& path) {
    Descriptor file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666));
    if (file.get() < 0) return IoError{errno, path, "open"};
    if (::flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
        if (errno == EWOULDBLOCK) return std::optional<Descriptor>();
        return IoError{errno, path, "lock"};
    }
    return std::optional<Descriptor>(std::move(file));
}

std::int64_t write_some(int fd, std::string_view bytes) {
    pollfd polled{.fd = fd, .events = POLLOUT, .revents = 0};
    if (::poll(&polled, 1, 0) <= 0) return 0;
    if ((polled.revents & POLLOUT) == 0) return -1;
    // A pipe that is ready takes so much without blocking.
    constexpr std::size_t kPipe = 4096;
    const ssize_t n = ::write(fd, bytes.data(), std::min(bytes.size(), kPipe));
    if (n >= 0) return n;
    return errno == EINTR || errno == EAGAIN ? 0 : -1;
}

IoDone append_line(const std::string& path, std::string_view line) {
    const Descriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666));
    if (file.get() < 0) return IoError{errno, path, "open"};
    std::string whole(line);
    whole += '\n';
    std::string_view left = whole;
    while (!left.empty()) {
        const ssize_t n = ::write(file.get(), left.data(), left.size());
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return IoError{errno, path, "write"};
        left.remove_prefix(static_cast<std::size_t>(n));
    }
    return Done{};
}

std::string own_program() { return "/proc/self/exe"; }

}  // namespace trainyard::sys
