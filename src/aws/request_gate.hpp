#pragma once
// How many requests may be on their way: additive increase, multiplicative decrease (Chiu and Jain
// 1989, doi 10.1016/0169-7552(89)90019-6), as a store that throttles expects of its clients.

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <stop_token>

namespace trainyard::aws {

class RequestGate {
  public:
    using Clock = std::chrono::steady_clock;

    explicit RequestGate(int most) : most_(most), limit_(most) {}

    /// False if `stop` or `deadline` came first.
    bool enter(const std::stop_token& stop, std::optional<Clock::time_point> deadline);
    /// Each enter() that succeeded is followed by one.
    void leave(bool was_throttled, Clock::time_point now = Clock::now());

    double limit() const;

  private:
    mutable std::mutex mutex_;
    std::condition_variable_any changed_;
    const double most_;
    double limit_;
    int inside_ = 0;
    Clock::time_point decreased_{};  ///< one burst of refusals is one event
};

}  // namespace trainyard::aws
