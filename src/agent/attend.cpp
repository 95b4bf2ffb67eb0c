#include "trainyard/agent/attend.hpp"

#include <fmt/format.h>

#include <csignal>
#include <cstdlib>

#include "trainyard/base/text.hpp"
#include "trainyard/sys/environment.hpp"

namespace trainyard::agent {

namespace {

constexpr std::int64_t kGraceNs = 5'000'000'000;  ///< for what the command left behind
constexpr std::size_t kSmall = 4096;

std::vector<std::int64_t> numbers_in(sys::Env& env, const std::string& path) {
    std::vector<std::int64_t> numbers;
    const auto text = sys::read_whole(env, path, kSmall);
    if (!text) return numbers;
    for (const std::string_view word : split(trim(*text), ' ')) {
        numbers.push_back(std::strtoll(std::string(word).c_str(), nullptr, 10));
    }
    return numbers;
}

bool write_numbers(const std::string& path, const std::string& numbers) {
    return sys::write_file(path, numbers + "\n").has_value();
}

}  // namespace

int attend(sys::Env& env, const std::string& directory, const std::vector<std::string>& command) {
    // What is meant for the command reaches it directly; we must live to tell its end.
    const sys::SignalQueue unheard({SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGPIPE});
    sys::adopt_orphans();
    const sys::ProcessId self = env.self();
    write_numbers(directory + "/keeper", fmt::format("{} {}", self.pid, self.start));
    const std::string end_file = directory + "/end";
    const auto child = sys::start_child(
        {.command = command, .environment = {}, .output = {}, .own_session = false});
    if (!child) {
        return write_numbers(end_file, fmt::format("0 {} 0 0 0", child.error().code)) ? 0 : 1;
    }
    write_numbers(directory + "/command", fmt::format("{} {}", child->pid, child->start));
    const auto end = sys::wait_for_child(child->pid).value_or(sys::ChildEnd{});
    const int left = sys::end_descendants(env, kGraceNs);
    return write_numbers(end_file, fmt::format("1 0 {} {} {}", end.code, end.signal, left)) ? 0 : 1;
}

std::optional<AttemptEnd> read_end(sys::Env& env, const std::string& directory) {
    const auto n = numbers_in(env, directory + "/end");
    constexpr std::size_t kFields = 5;
    if (n.size() != kFields) return std::nullopt;
    return AttemptEnd{.started = n[0] == 1,
                      .error = static_cast<int>(n[1]),
                      .end = {.code = static_cast<int>(n[2]), .signal = static_cast<int>(n[3])},
                      .left_behind = static_cast<int>(n[4])};
}

std::optional<sys::ProcessId> read_process(sys::Env& env, const std::string& path) {
    const auto n = numbers_in(env, path);
    if (n.size() != 2) return std::nullopt;
    sys::ProcessId id = env.self();
    id.pid = n[0];
    id.start = static_cast<std::uint64_t>(n[1]);
    return id;
}

}  // namespace trainyard::agent
