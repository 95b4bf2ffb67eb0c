#include "trainyard/sys/process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <system_error>
#include <utility>

namespace trainyard::sys {
namespace {

using Clock = std::chrono::steady_clock;

/// Both ends close on every way out.
class Pipe {
  public:
    Pipe() : is_open_(::pipe2(ends_.data(), O_CLOEXEC) == 0) {}
    Pipe(const Pipe&) = delete;
    Pipe& operator=(const Pipe&) = delete;
    ~Pipe() {
        close(0);
        close(1);
    }
    bool is_open() const { return is_open_; }
    int read_end() const { return ends_[0]; }
    int write_end() const { return ends_[1]; }
    void close(std::size_t end) {
        if (ends_[end] >= 0) ::close(ends_[end]);
        ends_[end] = -1;
    }

  private:
    std::array<int, 2> ends_{-1, -1};
    bool is_open_;
};

Error failed(const std::string& program, std::string what, std::string why) {
    return {
        ErrorKind::world,
        {{.where = {program, 0, 0}, .what = std::move(what), .why = std::move(why), .fix = {}}}};
}

std::string reason(int code) { return std::generic_category().message(code); }

int spawn(const std::vector<std::string>& command, const Pipe& out, const Pipe& err, pid_t& pid) {
    std::vector<char*> arguments;
    for (const std::string& a : command) arguments.push_back(const_cast<char*>(a.c_str()));
    arguments.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, out.write_end(), STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, err.write_end(), STDERR_FILENO);
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes,
                             POSIX_SPAWN_SETPGROUP);  // so that all of it can be killed
    posix_spawnattr_setpgroup(&attributes, 0);
    const int code =
        ::posix_spawnp(&pid, arguments[0], &actions, &attributes, arguments.data(), environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return code;
}

/// Reads both until they end; false: time is up or too much came.
bool collect(std::array<Pipe, 2>& pipes, Clock::time_point deadline, std::size_t max_output,
             ProcessOutput& output) {
    const std::array<std::string*, 2> texts{&output.out, &output.err};
    std::array<pollfd, 2> polled{pollfd{pipes[0].read_end(), POLLIN, 0},
                                 pollfd{pipes[1].read_end(), POLLIN, 0}};
    while (polled[0].fd >= 0 || polled[1].fd >= 0) {
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
        if (left.count() <= 0) return false;
        const int ready = ::poll(polled.data(), polled.size(), static_cast<int>(left.count()));
        if (ready < 0 && errno != EINTR) return false;
        if (ready <= 0) continue;
        for (std::size_t i = 0; i < polled.size(); ++i) {
            if (polled[i].fd < 0 || polled[i].revents == 0) continue;
            std::array<char, 4096> buffer{};
            const ssize_t n = ::read(polled[i].fd, buffer.data(), buffer.size());
            if (n < 0 && errno == EINTR) continue;
            if (n <= 0) {
                polled[i].fd = -1;
                continue;
            }
            texts[i]->append(buffer.data(), static_cast<std::size_t>(n));
            if (texts[i]->size() > max_output) return false;
        }
    }
    return true;
}

}  // namespace

Result<ProcessOutput> run_process(const std::vector<std::string>& command,
                                  std::chrono::milliseconds limit, std::size_t max_output) {
    const Clock::time_point deadline = Clock::now() + limit;
    std::array<Pipe, 2> pipes;
    if (!pipes[0].is_open() || !pipes[1].is_open()) {
        return failed(command[0], "the program cannot be started", reason(errno));
    }
    pid_t pid = 0;
    if (const int code = spawn(command, pipes[0], pipes[1], pid); code != 0) {
        return failed(command[0], "the program cannot be started", reason(code));
    }
    for (Pipe& pipe : pipes) pipe.close(1);
    ProcessOutput output;
    const bool is_whole = collect(pipes, deadline, max_output, output);
    if (!is_whole) ::kill(-pid, SIGKILL);
    int status = 0;
    while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    if (!is_whole) {
        return failed(command[0], "the program did not end as it should",
                      fmt::format("it ran over {} ms or printed over {} bytes and was killed",
                                  limit.count(), max_output));
    }
    output.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    return output;
}

}  // namespace trainyard::sys
