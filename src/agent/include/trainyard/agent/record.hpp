#pragma once
// What a run tells the next prediction: how long its steps took, stretch by stretch, beside what
// the plan said. STATE/record.json; docs/reference/record.md.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "trainyard/agent/machine.hpp"
#include "trainyard/doc/node.hpp"

namespace trainyard::agent {

/// Step times as spans of a few seconds each, at least ten times as long as the log is read apart.
/// At most kMostSpans: then neighbours are joined and spans get twice as long.
class StepSpans {
  public:
    struct Span {
        int stretch = 0;         ///< grows with each start of the command and of the supervisor
        std::int64_t first = 0;  ///< the steps are first + 1 to last
        std::int64_t last = 0;
        Seconds time;
    };

    /// The command, or this supervisor, begins anew: time before the first step told is no step's.
    void begin();
    /// `step` was told by the log that was read at `now`.
    void told(std::int64_t step, Instant now);
    /// Those that are over, and the one under way if it is long enough to say something.
    std::vector<Span> spans() const;

    doc::Node json() const;
    /// Takes up what an earlier supervisor wrote; what is no such list is left out.
    void restore(const doc::Node& list);

  private:
    void close();
    void join();

    std::vector<Span> done_;
    int stretch_ = 0;
    Seconds shortest_ = 5 * kSecond;
    std::optional<Instant> since_;  ///< when the step `open_.first` was told
    std::optional<Instant> until_;
    Span open_;
};
inline constexpr std::size_t kMostSpans = 256;

class Observer;
struct RecordHead {
    std::string run_id;
    std::int64_t written_ns = 0;  ///< since 1970
    int attempts = 0;
    doc::Node plan;  ///< of `trainyard run --plan`: its keys `model` and `chosen`, in part
};
std::string record_text(const RecordHead& head, const Observer& observer);
/// The spans of a record of the same run; nullopt: there is none.
std::optional<doc::Node> recorded_spans(const std::string& text, const std::string& run_id);

}  // namespace trainyard::agent
