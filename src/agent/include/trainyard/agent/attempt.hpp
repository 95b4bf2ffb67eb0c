#pragma once
// One start of the command: its processes, its directory, its log.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "trainyard/agent/machine.hpp"
#include "trainyard/sys/child.hpp"

namespace trainyard::agent {

/// How long the end of a killed process is awaited.
inline constexpr std::int64_t kEndLimitNs = 10'000'000'000;

struct AttemptSettings {
    int number = 0;
    std::string directory;  ///< made here: log, keeper, command, end, heartbeat
    std::string run_id;
    std::vector<std::string> command;
    std::string checkpoint_directory;  ///< "": none
    std::string request_file;          ///< there while a checkpoint is asked for
    std::string from;                  ///< "": from the start
    std::int64_t step = -1;
    std::vector<std::string> environment;  ///< more "NAME=value", "NAME" to unset
};

class Attempt {
  public:
    /// Starts it. IoError: the keeper could not be started, or the directory not made.
    static sys::IoResult<Attempt> start(sys::Env& env, const AttemptSettings& settings);
    /// Takes over what an earlier supervisor started; pid 0 in `keeper`: it is over, or never was.
    static Attempt adopt(sys::Env& env, const AttemptSettings& settings, sys::ProcessId keeper);

    const sys::ProcessId& keeper() const { return keeper_; }
    const std::string& directory() const { return directory_; }
    std::string log() const { return directory_ + "/log"; }
    bool is_running() const { return keeper_.pid != 0; }
    int descriptor() const { return end_watch_.get(); }  ///< readable once it has ended

    /// nullopt: it runs. Whatever it left behind is ended then.
    std::optional<AttemptOutcome> poll();
    /// SIGTERM to the command's process group; false: the command has not started yet.
    bool terminate();
    /// SIGKILL to the command and all that bears its mark.
    void kill();
    /// To every process of it that has a handler for the signal; returns how many.
    int signal_who_catches(int signal);
    /// What its processes do now: "; 123 python3 S futex_wait_queue, …".
    std::string states() const;

  private:
    Attempt(sys::Env& env, const AttemptSettings& settings);
    void kill_marked();
    void end_marked();
    sys::Env* env_;
    std::string directory_;
    std::string mark_;  ///< "TRAINYARD_ATTEMPT_ID=…": in the environment of every process of it
    sys::ProcessId keeper_;
    sys::Descriptor end_watch_;
};

/// What grew at the end of a log, read in pieces.
class LogTail {
  public:
    LogTail(sys::Env& env, std::string path, std::uint64_t from = 0);
    /// At most `most` bytes; empty: nothing new.
    std::string read(std::size_t most);
    std::uint64_t offset() const { return offset_; }

  private:
    sys::Env* env_;
    std::string path_;
    std::unique_ptr<sys::File> file_;
    std::uint64_t offset_;
};
/// The last lines of a file, for evidence.
std::vector<std::string> last_lines(sys::Env& env, const std::string& path, std::size_t count);

}  // namespace trainyard::agent
