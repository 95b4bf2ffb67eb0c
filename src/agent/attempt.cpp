#include "trainyard/agent/attempt.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <csignal>

#include "trainyard/agent/attend.hpp"
#include "trainyard/base/text.hpp"

namespace trainyard::agent {

namespace {

std::vector<std::string> environment_of(const AttemptSettings& s, const std::string& mark) {
    std::vector<std::string> all{mark, "TRAINYARD_RUN_ID=" + s.run_id,
                                 fmt::format("TRAINYARD_ATTEMPT={}", s.number),
                                 "TRAINYARD_CHECKPOINT_REQUEST=" + s.request_file,
                                 "TRAINYARD_HEARTBEAT=" + s.directory + "/heartbeat"};
    if (s.checkpoint_directory.empty()) {
        all.emplace_back("TRAINYARD_CHECKPOINT_DIR");
    } else {
        all.push_back("TRAINYARD_CHECKPOINT_DIR=" + s.checkpoint_directory);
    }
    if (s.from.empty()) {
        all.emplace_back("TRAINYARD_RESUME_FROM");
        all.emplace_back("TRAINYARD_RESUME_STEP");
    } else {
        all.push_back("TRAINYARD_RESUME_FROM=" + s.from);
        all.push_back(fmt::format("TRAINYARD_RESUME_STEP={}", s.step));
    }
    all.insert(all.end(), s.environment.begin(), s.environment.end());
    return all;
}

}  // namespace

Attempt::Attempt(sys::Env& env, const AttemptSettings& settings)
    : env_(&env),
      directory_(settings.directory),
      mark_(fmt::format("TRAINYARD_ATTEMPT_ID={}-{}", settings.run_id, settings.number)) {}

sys::IoResult<Attempt> Attempt::start(sys::Env& env, const AttemptSettings& settings) {
    if (auto made = sys::make_directories(env, settings.directory); !made) return made.error();
    Attempt attempt(env, settings);
    sys::ChildRequest request;
    request.command = {sys::own_program(), "attend", settings.directory, "--"};
    request.command.insert(request.command.end(), settings.command.begin(), settings.command.end());
    request.environment = environment_of(settings, attempt.mark_);
    request.output = attempt.log();
    request.own_session = true;
    auto keeper = sys::start_child(request);
    if (!keeper) return keeper.error();
    attempt.keeper_ = *keeper;
    attempt.end_watch_ = sys::watch_process(keeper->pid);
    return attempt;
}

Attempt Attempt::adopt(sys::Env& env, const AttemptSettings& settings, sys::ProcessId keeper) {
    Attempt attempt(env, settings);
    if (keeper.pid == 0) {
        keeper = read_process(env, settings.directory + "/keeper").value_or(sys::ProcessId{});
    }
    if (keeper.pid == 0 || !env.may_be_alive(keeper)) return attempt;
    attempt.keeper_ = std::move(keeper);
    attempt.end_watch_ = sys::watch_process(attempt.keeper_.pid);
    return attempt;
}

void Attempt::kill_marked() {
    for (const std::int64_t pid : sys::processes_marked(mark_)) {
        if (pid != keeper_.pid) sys::signal_process(pid, SIGKILL);
    }
}

/// Until all that bears its mark is gone: another attempt must not meet it.
void Attempt::end_marked() {
    std::vector<sys::ProcessId> left;
    for (const std::int64_t pid : sys::processes_marked(mark_)) left.push_back(sys::identify(pid));
    sys::end_processes(*env_, std::move(left), kEndLimitNs);
}

std::optional<AttemptOutcome> Attempt::poll() {
    using Kind = AttemptOutcome::Kind;
    if (keeper_.pid != 0) {
        (void)sys::poll_child(keeper_.pid);  // so that no zombie looks alive
        if (env_->may_be_alive(keeper_)) return std::nullopt;
        keeper_ = {};
        end_watch_ = {};
    }
    end_marked();
    const auto end = read_end(*env_, directory_);
    if (!end) return AttemptOutcome{Kind::lost, 0};
    if (!end->started) return AttemptOutcome{Kind::not_started, end->error};
    if (end->end.signal != 0) return AttemptOutcome{Kind::signalled, end->end.signal};
    return AttemptOutcome{Kind::exited, end->end.code};
}

bool Attempt::terminate() {
    const auto command = read_process(*env_, directory_ + "/command");
    if (!command) return !is_running();
    if (env_->may_be_alive(*command)) sys::signal_group(command->pid, SIGTERM);
    return true;
}

void Attempt::kill() {
    const auto command = read_process(*env_, directory_ + "/command");
    if (command && env_->may_be_alive(*command)) sys::signal_group(command->pid, SIGKILL);
    kill_marked();
}

int Attempt::signal_who_catches(int signal) {
    int count = 0;
    for (const std::int64_t pid : sys::processes_marked(mark_)) {
        if (pid == keeper_.pid || !sys::catches_signal(pid, signal)) continue;
        sys::signal_process(pid, signal);
        ++count;
    }
    return count;
}

std::string Attempt::states() const {
    constexpr std::size_t kMost = 8;
    std::string text;
    std::size_t count = 0;
    for (const std::int64_t pid : sys::processes_marked(mark_)) {
        if (pid == keeper_.pid) continue;
        if (++count > kMost) continue;
        text += (text.empty() ? "; " : ", ") + sys::describe_process(pid);
    }
    if (count > kMost) text += fmt::format(" and {} more", count - kMost);
    return text;
}

LogTail::LogTail(sys::Env& env, std::string path, std::uint64_t from)
    : env_(&env), path_(std::move(path)), offset_(from) {}

std::string LogTail::read(std::size_t most) {
    if (!file_) {
        auto opened = env_->open(path_);
        if (!opened) return {};
        file_ = std::move(*opened);
    }
    std::string bytes(most, '\0');
    const auto n = file_->read_at(offset_, bytes);
    bytes.resize(n.value_or(0));
    offset_ += bytes.size();
    return bytes;
}

std::vector<std::string> last_lines(sys::Env& env, const std::string& path, std::size_t count) {
    constexpr std::uint64_t kTail = std::uint64_t{16} << 10U;
    std::vector<std::string> lines;
    const auto status = env.status(path);
    if (!status) return lines;
    LogTail tail(env, path, status->size > kTail ? status->size - kTail : 0);
    const std::string text = tail.read(kTail);
    for (const std::string_view line : split(text, '\n')) {
        if (!trim(line).empty()) lines.push_back(printable(line, 300));
    }
    if (lines.size() > count) lines.erase(lines.begin(), lines.end() - static_cast<long>(count));
    return lines;
}

}  // namespace trainyard::agent
