#include "request_gate.hpp"

#include <algorithm>

namespace trainyard::aws {
namespace {

constexpr double kDecrease = 0.7;
constexpr std::chrono::milliseconds kOneEvent{250};

}  // namespace

bool RequestGate::enter(const std::stop_token& stop, std::optional<Clock::time_point> deadline) {
    std::unique_lock lock(mutex_);
    const auto is_open = [this] { return inside_ < static_cast<int>(limit_); };
    const Clock::time_point until = deadline.value_or(Clock::now() + std::chrono::hours(24 * 365));
    if (!changed_.wait_until(lock, stop, until, is_open)) return false;
    ++inside_;
    return true;
}

void RequestGate::leave(bool was_throttled, Clock::time_point now) {
    {
        const std::scoped_lock lock(mutex_);
        --inside_;
        if (!was_throttled) {
            limit_ = std::min(most_, limit_ + 1.0 / limit_);
        } else if (now - decreased_ >= kOneEvent) {
            // From what was really tried, not from a limit that nobody reached.
            const double tried = std::min(limit_, static_cast<double>(inside_ + 1));
            limit_ = std::max(1.0, kDecrease * tried);
            decreased_ = now;
        }
    }
    changed_.notify_all();
}

double RequestGate::limit() const {
    const std::scoped_lock lock(mutex_);
    return limit_;
}

}  // namespace trainyard::aws
