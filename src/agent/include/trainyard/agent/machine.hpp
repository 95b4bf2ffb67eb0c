#pragma once
// The supervisor's decisions, without a world: events and the time go in, actions come out. Each
// state can be entered again after a restart of the supervisor. Times are seconds of a clock that
// never goes back, as `Instant`; the machine never asks for the time itself.

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "trainyard/base/random.hpp"
#include "trainyard/base/units.hpp"
#include "trainyard/store/forecast.hpp"

namespace trainyard::agent {

using Instant = Seconds;  ///< since an arbitrary moment

/// Exit codes of `trainyard run` besides those of every command; docs/reference/exit-codes.md.
enum class Ending {
    done = 0,              ///< the command ended with 0
    world = 4,             ///< no checkpoint could be read, or the command cannot be started
    preempted = 75,        ///< the machine is taken away; the run can be resumed elsewhere
    poison_step = 76,      ///< the same step failed again and again
    out_of_restarts = 78,  ///< too many failures without a new checkpoint
    out_of_budget = 79,    ///< stopped before the money was spent
    idle = 80,             ///< stopped because nothing moved
    stopped = 81,          ///< `trainyard stop`
    bad_loss = 82,         ///< the loss is not a number, with --on-nan stop
    interrupted = 130      ///< Ctrl-C
};
std::string_view name(Ending ending);

struct Policy {
    bool has_checkpoints = false;  ///< a directory to watch is known
    bool has_store = false;
    bool has_group = false;  ///< other nodes take part: group.hpp
    int max_restarts = 10;   ///< failures in a row without a new checkpoint
    int poison_after = 3;    ///< failures in a row at the same step
    Seconds first_backoff = 1 * kSecond;
    Seconds most_backoff = 5 * kMinute;
    Seconds grace = 30 * kSecond;  ///< between SIGTERM and SIGKILL
    /// From a notice without a time, a SIGTERM, Ctrl-C or a stop to the moment all must be done.
    Seconds notice_window = 120 * kSecond;
    Seconds term_window = 30 * kSecond;
    Seconds stop_window = 10 * kMinute;
    Seconds flush_window = 30 * kMinute;  ///< for uploads after a command that ended with 0
    /// What the last moments of a window are kept for: ending the command, the last answer of the
    /// store.
    Seconds margin = 5 * kSecond;
    /// Between SIGTERM and SIGKILL when the other nodes are not there any more: nothing can be
    /// saved without them.
    Seconds regroup_grace = 5 * kSecond;
};

/// Why a run winds down before its end; `regroup`: only this generation of its nodes.
enum class Drain { notice, terminate, interrupt, stop, budget, idle, bad_loss, regroup };
std::string_view name(Drain drain);

/// How an attempt ended, as far as is known.
struct AttemptOutcome {
    enum class Kind {
        exited,
        signalled,
        not_started,  ///< `number` is the errno
        no_keeper,    ///< the process beside the command was not started; errno
        lost,         ///< its end was written down nowhere
        rebooted,     ///< the machine was, under it
    };
    Kind kind = Kind::exited;
    int number = 0;  ///< exit code, signal or errno
    bool operator==(const AttemptOutcome&) const = default;
};
std::string describe(const AttemptOutcome& outcome);

struct Failure {
    int attempt = 0;
    std::int64_t step = -1;  ///< the last one seen; -1: none was
    std::string cause;       ///< "exit code 1", "signal 9 (Killed)", "hang: …"
};

/// The place of this node in a generation of the nodes of a run.
struct GroupPlace {
    int generation = 0;
    int rank = 0;
    int nodes = 1;
    std::string first_address;  ///< of the node of rank 0
    int first_port = 0;
    std::int64_t from = -1;  ///< the step that all begin from; -1: from the start
    bool is_shared = false;  ///< one checkpoint directory for all nodes
    std::string reason;
};

namespace action {
/// Find, and if need be restore, the checkpoint to start from; of a group: that of its generation.
struct Prepare {
    int generation = 0;
};
struct Join {};  ///< tell the other nodes that this one is ready
struct Start {
    int attempt = 0;
    std::string from;
    std::int64_t step = -1;
};
struct Terminate {};      ///< SIGTERM to the command
struct Kill {};           ///< SIGKILL to all of it
struct AskCheckpoint {};  ///< the file, and SIGUSR1 to who catches it
struct TakeBackAsk {};
struct Put {
    std::string path;
    std::int64_t step = 0;
};
struct AbandonPut {};
struct Say {
    enum class Level { info, warning, alarm };
    Level level = Level::info;
    std::string event;  ///< a word for the event log: "notice", "saved", …
    std::string text;
    std::int64_t step = -1;
};
struct Finish {
    Ending ending = Ending::done;
    int command_code = 0;  ///< of the last attempt
};
}  // namespace action
namespace event {
struct Begin {};
struct Adopted {  ///< an attempt of an earlier supervisor
    int attempt = 0;
    bool is_alive = true;  ///< false: only its end is still to be told
};
struct Prepared {
    std::string from;          ///< directory to resume from; empty: from the start
    std::int64_t step = -1;    ///< of it; -1: from the start
    std::int64_t stored = -1;  ///< newest step in the store
    int generation = 0;        ///< of the Prepare that asked
};
struct PrepareFailed {
    std::string why;
    bool is_final = false;  ///< trying again cannot help
    int generation = 0;
};
struct Ended {
    AttemptOutcome outcome;
};
struct Progress {
    std::int64_t step = 0;
};
struct Saved {  ///< a complete checkpoint lies on disk
    std::string path;
    std::int64_t step = 0;
    std::uint64_t bytes = 0;
};
struct Committed {
    std::int64_t step = 0;
    std::uint64_t sent = 0;  ///< bytes that went over the network
    Seconds took;
};
struct PutFailed {
    std::string why;
    bool is_final = false;
};
struct Notice {
    std::string what;  ///< "spot terminate at 2026-12-01T08:22:00Z"
    std::optional<Instant> deadline;
};
struct NoticeGone {};
struct Wind {  ///< wind down for another reason
    Drain why = Drain::stop;
    std::string what;
};
struct Hang {
    std::string evidence;
};
struct Tick {};
struct Remark {  ///< only to be passed on to the user
    std::string text;
    action::Say::Level level = action::Say::Level::info;
    std::string event = "note";
};
struct Rebalance {  ///< the risk of an interruption is raised; often none follows
    std::string what;
};
struct Grouped {  ///< this node is taken into a generation
    GroupPlace place;
};
/// The generation ends for all its nodes: at once, or at the deadline with a checkpoint before.
struct Regroup {
    std::string why;
    std::optional<Instant> deadline;
};
/// What the node of rank 0 tells the others.
struct GroupStep {
    std::int64_t step = 0;
};
struct GroupSaved {
    std::string name;  ///< in the checkpoint directory
    std::int64_t step = 0;
};
struct GroupCommitted {
    std::int64_t step = 0;
};
struct GroupPrepared {  ///< the checkpoint to begin from lies on its disk
    int generation = 0;
};
struct GroupDone {};  ///< the command has ended with 0 on every node
struct GroupEnds {    ///< a node ended the run for all
    Ending ending = Ending::stopped;
    std::string why;
};
}  // namespace event
using Event =
    std::variant<event::Begin, event::Adopted, event::Prepared, event::PrepareFailed, event::Ended,
                 event::Progress, event::Saved, event::Committed, event::PutFailed, event::Notice,
                 event::NoticeGone, event::Wind, event::Hang, event::Tick, event::Remark,
                 event::Rebalance, event::Grouped, event::Regroup, event::GroupStep,
                 event::GroupSaved, event::GroupCommitted, event::GroupPrepared, event::GroupDone,
                 event::GroupEnds>;

using Action = std::variant<action::Prepare, action::Join, action::Start, action::Terminate,
                            action::Kill, action::AskCheckpoint, action::TakeBackAsk, action::Put,
                            action::AbandonPut, action::Say, action::Finish>;

/// What lasts over the end of the supervisor.
struct Memory {
    int attempts = 0;
    int preemptions = 0;
    std::int64_t committed = -1;    ///< newest step in the store
    std::int64_t saved = -1;        ///< newest complete step on disk
    std::int64_t resumed = -1;      ///< step that the attempt at work began from
    std::int64_t step = -1;         ///< the last one seen of it
    std::vector<Failure> failures;  ///< in a row, since the last new checkpoint
};

class Machine {
  public:
    enum class Phase {
        idle,
        preparing,
        running,
        saving,    ///< a checkpoint was asked for, and the upload is awaited
        ending,    ///< SIGTERM was sent
        waiting,   ///< before the next attempt
        joining,   ///< until this node is taken into a generation
        awaiting,  ///< the command ended with 0 here; the other nodes' still run
        flushing,  ///< the command is over; uploads go on
        finished
    };

    Machine(Policy policy, Memory memory, std::uint64_t seed);

    std::vector<Action> handle(const Event& event, Instant now);
    /// When a Tick is due; nullopt: no earlier than something happens.
    std::optional<Instant> wake() const;

    Phase phase() const { return phase_; }
    const Memory& memory() const { return memory_; }
    std::optional<Drain> drain() const;
    const std::string& drain_words() const { return drain_ ? drain_->what : kNothing; }
    std::optional<Instant> drain_deadline() const;
    bool is_uploading() const { return is_putting_; }
    /// An upload is under way or waits for another try.
    bool has_upload_left() const { return is_putting_ || waiting_put_.has_value(); }
    int generation() const { return generation_; }  ///< 0: in none yet
    /// An attempt of this generation is taken over from an earlier supervisor.
    void adopt_generation(const GroupPlace& place);
    /// Why the last attempt failed; empty: it did not.
    const std::string& failure() const { return failure_; }
    std::optional<Ending> ending() const;    ///< nullopt: not over yet
    std::optional<Ending> comes_to() const;  ///< the same, or what a drain under way leads to
    /// Learnt from the puts so far: bytes a second; nullopt before the first.
    std::optional<BytesPerSecond> upload_rate() const;
    /// What a save and its upload take, as far as was seen; 0: nothing was.
    Seconds wind_down() const;
    /// The store's own, in place of the rate of the last commit.
    void learn(std::optional<store::Forecast> forecast) { forecast_ = forecast; }
    /// A commit is to be over so long before the deadline of the drain: store::kCommitMargin, less
    /// if the window is short.
    Seconds commit_margin() const;

  private:
    static const std::string kNothing;
    struct Draining {
        Drain why = Drain::stop;
        std::string what;
        Instant asked;
        Instant deadline;
        std::int64_t saved_before = -1;
        bool has_asked = false;  ///< for a checkpoint
    };
    struct Waiting {
        std::string path;
        std::int64_t step = 0;
        std::uint64_t bytes = 0;
    };
    using Actions = std::vector<Action>;

    void on(const event::Begin& e, Instant now, Actions& out);
    void on(const event::Adopted& e, Instant now, Actions& out);
    void on(const event::Prepared& e, Instant now, Actions& out);
    void on(const event::PrepareFailed& e, Instant now, Actions& out);
    void on(const event::Ended& e, Instant now, Actions& out);
    void on(const event::Progress& e, Instant now, Actions& out);
    void on(const event::Saved& e, Instant now, Actions& out);
    void on(const event::Committed& e, Instant now, Actions& out);
    void on(const event::PutFailed& e, Instant now, Actions& out);
    void on(const event::Notice& e, Instant now, Actions& out);
    void on(const event::NoticeGone& e, Instant now, Actions& out);
    void on(const event::Wind& e, Instant now, Actions& out);
    void on(const event::Hang& e, Instant now, Actions& out);
    void on(const event::Tick& e, Instant now, Actions& out);
    static void on(const event::Remark& e, Instant now, Actions& out);
    void on(const event::Rebalance& e, Instant now, Actions& out);
    void on(const event::Grouped& e, Instant now, Actions& out);
    void on(const event::Regroup& e, Instant now, Actions& out);
    static void on(const event::GroupStep& e, Instant now, Actions& out);
    static void on(const event::GroupSaved& e, Instant now, Actions& out);
    static void on(const event::GroupPrepared& e, Instant now, Actions& out);
    void on(const event::GroupCommitted& e, Instant now, Actions& out);
    void on(const event::GroupDone& e, Instant now, Actions& out);
    void on(const event::GroupEnds& e, Instant now, Actions& out);

    /// Before the command is started: find the checkpoint, or the other nodes first.
    void go(Actions& out);
    void join(Actions& out);
    void begin_drain(Drain why, std::string what, Instant deadline, Instant now, Actions& out);
    void begin_saving(Instant now, Actions& out);
    /// The save that was asked for is on disk, and in the store if there is one.
    bool is_safe() const;
    /// From the start of a put to its commit; 0: nothing is known.
    Seconds upload_takes(std::uint64_t bytes) const;
    /// Until the put under way is committed.
    Seconds upload_left(Instant now) const;
    void end_command(Instant now, Actions& out);
    void fail(std::string cause, Instant now, Actions& out);
    std::optional<Ending> verdict() const;
    void flush(Ending ending, Seconds window, Instant now, Actions& out);
    void finish(Actions& out);
    void put_next(Instant now, Actions& out);
    std::string standing() const;
    Seconds backoff();

    Policy policy_;
    Memory memory_;
    Random random_;
    Phase phase_ = Phase::idle;
    std::optional<Draining> drain_;
    bool asked_early_ = false;  ///< for a checkpoint, on a rebalance recommendation
    std::string hang_;          ///< not empty: the attempt is being ended for it
    std::optional<Instant> kill_at_;
    std::optional<Instant> start_at_;
    std::optional<Instant> flush_until_;
    Ending ending_ = Ending::done;
    int command_code_ = 0;
    int prepare_failures_ = 0;
    int generation_ = 0;
    bool is_uploader_ = true;
    std::string failure_;             ///< of the last attempt
    std::optional<Ending> given_up_;  ///< by another node, for all

    bool is_putting_ = false;
    std::int64_t putting_step_ = -1;
    std::optional<Waiting> waiting_put_;
    std::optional<Instant> put_at_;  ///< not before this
    int put_failures_ = 0;
    std::uint64_t last_bytes_ = 0;
    std::optional<BytesPerSecond> rate_;
    std::optional<store::Forecast> forecast_;
    std::uint64_t putting_bytes_ = 0;
    Instant putting_since_;
    std::optional<Seconds> save_took_;
};

}  // namespace trainyard::agent
