#pragma once
// The supervisor's class, for its three files: supervisor.cpp (the loop and what is done),
// supervisor_watch.cpp (what is seen) and supervisor_group.cpp (the other nodes).

#include <memory>
#include <optional>
#include <string>

#include "event_log.hpp"
#include "trainyard/agent/attempt.hpp"
#include "trainyard/agent/group_watch.hpp"
#include "trainyard/agent/journal.hpp"
#include "trainyard/agent/observer.hpp"
#include "trainyard/agent/supervisor.hpp"
#include "trainyard/agent/worker.hpp"
#include "trainyard/sys/text_server.hpp"

namespace trainyard::agent {

inline constexpr Seconds kLook = 2 * kSecond;  ///< between looks at the checkpoint directory
inline constexpr Seconds kUrgentLook = kSecond / 5.0;  ///< while a checkpoint is awaited
inline constexpr Seconds kTail = kSecond / 2.0;        ///< between looks at the log
inline constexpr Seconds kObserve = kSecond;           ///< between looks at time and money
inline constexpr Seconds kRemember = 5 * kSecond;      ///< between writes of the step
inline constexpr Seconds kRecord = kMinute;            ///< between writes of the record
inline constexpr Seconds kRequests = 10 * kSecond;     ///< between looks for lost requests
inline constexpr std::size_t kPiece = std::size_t{64} << 10U;

/// What and why of all diagnostics, in one line.
std::string words_of(const Error& error);

class Supervisor {
  public:
    Supervisor(sys::Env& env, const Settings& settings, Journal& journal, sys::Descriptor lock)
        : env_(env),
          settings_(settings),
          journal_(journal),
          lock_(std::move(lock)),
          log_(settings.state + "/events.jsonl", env),
          scanner_(env, settings.place),
          observer_(settings.observer, spent_before(journal)) {}

    Result<RunResult> run();

  private:
    Instant now() { return static_cast<double>(env_.steady_ns()) * 1e-9 * kSecond; }
    std::string request_file() const { return settings_.state + "/checkpoint-request"; }
    AttemptSettings attempt_settings(int number);

    std::optional<Error> take_up();
    void end_strays(int adopted);
    void adopt(const AttemptRow& row);
    void loop();
    void wait();
    void feed(const Event& event);
    void perform(const Action& action);
    void start(const action::Start& start);
    void put(const action::Put& put);
    void ask_checkpoint();
    void say(const action::Say& said);
    void finish(const action::Finish& finish);

    void prepare_now();
    void hear(const Event& event);
    void take_place(const GroupPlace& place);
    void recall_place();
    void meet_group();
    void tell_group();
    NodeRecord own_record();
    std::vector<std::string> group_environment() const;

    static TimeSpent spent_before(Journal& journal);
    void observe();
    void publish();
    void look_for_life();
    void write_spent();
    void write_record();

    void hear_signals();
    void hear_requests();
    void hear_mail();
    void read_log(bool to_the_end);
    void show_log();
    void look_at_checkpoints(bool no_writers);
    void look_at_attempt();
    void remember(bool is_urgent);
    void note(const std::optional<Error>& error);

    sys::Env& env_;
    const Settings& settings_;
    Journal& journal_;
    sys::Descriptor lock_;
    EventLog log_;
    Scanner scanner_;
    Observer observer_;
    std::unique_ptr<sys::TextServer> metrics_;
    std::int64_t heartbeat_ns_ = 0;  ///< last change of the heartbeat file
    std::int64_t write_ns_ = 0;      ///< last change below the checkpoint directory
    Instant next_observation_;
    Instant next_requests_;
    bool has_request_ = false;
    std::optional<Machine> machine_;
    std::optional<Attempt> attempt_;
    std::optional<AttemptRow> row_;
    std::string run_id_;
    std::string evidence_log_;
    std::optional<LogTail> tail_;     ///< for progress
    std::optional<LogTail> display_;  ///< for the terminal
    std::string shown_;               ///< read for the terminal, not written yet
    LineSplitter lines_;
    bool must_terminate_ = false;
    bool journal_failed_ = false;
    Instant next_look_;
    Instant last_remembered_;
    Instant next_record_;
    std::optional<RunResult> result_;
    Mailbox mail_;
    // Last, so that their threads end before what they use.
    Worker uploads_;
    Worker preparations_;
    std::optional<ImdsThread> imds_;
    std::optional<GroupPlace> place_;  ///< in the generation at work, or the last one
    int first_prepared_ = 0;           ///< generation whose checkpoint lies ready on rank 0
    int prepared_ = 0;                 ///< the same here
    bool must_prepare_ = false;        ///< once rank 0 has
    int port_ = 0;                     ///< offered for the next rendezvous
    std::string saved_name_;
    std::vector<std::string> neighbours_;
    Instant next_neighbours_;
    std::optional<GroupThread> group_;
};

}  // namespace trainyard::agent
