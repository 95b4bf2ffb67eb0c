#pragma once
// Long-lived programs: started apart from us so that our death does not touch them, watched, and
// signalled by group or by a mark in their environment. Linux only.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trainyard/base/result.hpp"
#include "trainyard/sys/env.hpp"

namespace trainyard::sys {

struct ChildRequest {
    std::vector<std::string> command;  ///< command[0] is looked up on PATH; no shell
    /// "NAME=value" on top of our own environment; "NAME" alone removes it.
    std::vector<std::string> environment;
    std::string output;        ///< file that standard output and error are appended to; empty: ours
    bool own_session = false;  ///< else a process group of its own in our session
};

/// Standard input is empty; every signal has its default meaning and none is blocked. The process
/// group is the child's id. IoError: what fork or exec said.
IoResult<ProcessId> start_child(const ChildRequest& request);

/// How a process ended.
struct ChildEnd {
    int code = 0;    ///< of exit
    int signal = 0;  ///< not 0: this ended it
    bool operator==(const ChildEnd&) const = default;
};
/// Waits for it. nullopt: it is no child of ours.
std::optional<ChildEnd> wait_for_child(std::int64_t pid);
/// As wait_for_child, without waiting; nullopt too while it runs.
std::optional<ChildEnd> poll_child(std::int64_t pid);

/// Becomes the parent of every descendant whose own parent dies.
void adopt_orphans();
/// Kills all children and theirs: SIGTERM, and SIGKILL after `grace_ns`. Returns when none is left.
/// Returns how many there were.
int end_descendants(Env& env, std::int64_t grace_ns);

/// The identity of a running process; pid 0 if there is none.
ProcessId identify(std::int64_t pid);

/// Processes of ours in whose environment "NAME=value" stands, without ourselves.
std::vector<std::int64_t> processes_marked(std::string_view mark);
/// SIGKILL to those, until they are gone or `limit_ns` is over (one that waits for a dead disk does
/// not go). Returns how many are left.
std::size_t end_processes(Env& env, std::vector<ProcessId> processes, std::int64_t limit_ns);
/// Whether the process has a handler for the signal.
bool catches_signal(std::int64_t pid, int signal);
/// "123 python3 S futex_wait_queue": id, program, state and where in the kernel it waits.
std::string describe_process(std::int64_t pid);
/// Ids that are gone are no error.
void signal_process(std::int64_t pid, int signal);
void signal_group(std::int64_t group, int signal);

/// Readable once the process has ended; -1 if it is gone already.
class Descriptor {
  public:
    Descriptor() = default;
    explicit Descriptor(int fd) : fd_(fd) {}
    Descriptor(Descriptor&& other) noexcept : fd_(other.release()) {}
    Descriptor& operator=(Descriptor&& other) noexcept;
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    ~Descriptor();
    int get() const { return fd_; }
    int release();

  private:
    int fd_ = -1;
};
Descriptor watch_process(std::int64_t pid);

/// While it lives, these signals do not act but are read from here.
class SignalQueue {
  public:
    explicit SignalQueue(const std::vector<int>& signals);
    ~SignalQueue();
    SignalQueue(const SignalQueue&) = delete;
    SignalQueue& operator=(const SignalQueue&) = delete;
    int descriptor() const { return fd_.get(); }
    std::vector<int> take();  ///< what has come, oldest first

  private:
    Descriptor fd_;
    std::vector<int> signals_;
};

/// Wakes a wait from another thread.
class Wakeup {
  public:
    Wakeup();
    int descriptor() const { return fd_.get(); }
    void ring() const;
    void clear() const;

  private:
    Descriptor fd_;
};

/// Until one is readable or the time is over. Negative descriptors are left out.
void wait_readable(const std::vector<int>& descriptors, std::int64_t timeout_ns);

/// An exclusive lock on a file, made if it is not there; freed with the process. nullopt: somebody
/// else holds it.
IoResult<std::optional<Descriptor>> lock_file(const std::string& path);

/// Writes what the descriptor takes at once; bytes written. -1: closed or broken.
std::int64_t write_some(int fd, std::string_view bytes);
/// Appends whole; made if it is not there.
IoDone append_line(const std::string& path, std::string_view line);

/// The program that is running, for starting it again.
std::string own_program();

}  // namespace trainyard::sys
