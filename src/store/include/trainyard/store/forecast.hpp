#pragma once
// What can still be committed in the time that is left, from what earlier puts and the running one
// have measured. Rates are of bytes that went to the store, in bytes a second of sending.

#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>

#include "trainyard/base/units.hpp"

namespace trainyard::store {

/// A commit ends so long before the deadline that the machine goes away at.
inline constexpr Seconds kCommitMargin = 10 * kSecond;

struct Forecast {
    double bytes_per_second = 0;
    Seconds overhead = 1 * kSecond;  ///< of a put beside its sending: names, listings, commit

    /// From the start of a put to its commit.
    Seconds needed(std::uint64_t bytes) const;
    /// Bytes whose put, begun now, is committed kCommitMargin before `left` is over.
    std::uint64_t fits(Seconds left) const;
};

/// Takes the measurements; safe to use from many threads. Times by a monotonic clock.
class RateMeter {
  public:
    void begin(std::int64_t now_ns);  ///< of sending
    void add(std::uint64_t bytes, std::int64_t now_ns);
    void end(std::int64_t now_ns);
    void overhead(Seconds of_one_put);
    /// nullopt: too little was sent to say (under 1 MiB, or no time passed). The running put alone
    /// once it has sent for two seconds; else the last puts together.
    std::optional<Forecast> forecast() const;

  private:
    struct Span {
        std::int64_t begin_ns = 0;
        std::int64_t end_ns = 0;
        std::uint64_t bytes = 0;
    };
    mutable std::mutex mutex_;
    std::deque<Span> spans_;  ///< the newest last
    bool is_running_ = false;
    Seconds overhead_ = 1 * kSecond;
};

}  // namespace trainyard::store
