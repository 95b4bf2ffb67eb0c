#include "trainyard/store/forecast.hpp"

#include <algorithm>

namespace trainyard::store {

namespace {

constexpr std::size_t kPuts = 4;  ///< of the past: a network changes, a disk's cache fills
constexpr std::int64_t kTellingNs = 2'000'000'000;
constexpr std::uint64_t kTellingBytes = std::uint64_t{1} << 20U;

}  // namespace

Seconds Forecast::needed(std::uint64_t bytes) const {
    return overhead + static_cast<double>(bytes) / bytes_per_second * kSecond;
}

std::uint64_t Forecast::fits(Seconds left) const {
    const double seconds = (left - overhead - kCommitMargin) / kSecond;
    return seconds <= 0 ? 0 : static_cast<std::uint64_t>(seconds * bytes_per_second);
}

void RateMeter::begin(std::int64_t now_ns) {
    const std::scoped_lock lock(mutex_);
    spans_.push_back({now_ns, now_ns, 0});
    if (spans_.size() > kPuts) spans_.pop_front();
    is_running_ = true;
}

void RateMeter::add(std::uint64_t bytes, std::int64_t now_ns) {
    const std::scoped_lock lock(mutex_);
    if (spans_.empty() || !is_running_) return;
    spans_.back().bytes += bytes;
    spans_.back().end_ns = now_ns;
}

void RateMeter::end(std::int64_t now_ns) {
    const std::scoped_lock lock(mutex_);
    if (spans_.empty() || !is_running_) return;
    is_running_ = false;
    spans_.back().end_ns = now_ns;
    if (spans_.back().bytes == 0) spans_.pop_back();  // all was there already
}

void RateMeter::overhead(Seconds of_one_put) {
    const std::scoped_lock lock(mutex_);
    overhead_ = std::max(of_one_put, 0 * kSecond);
}

std::optional<Forecast> RateMeter::forecast() const {
    const std::scoped_lock lock(mutex_);
    Span all;
    for (const Span& span : spans_) {
        all.bytes += span.bytes;
        all.end_ns += span.end_ns - span.begin_ns;
    }
    if (is_running_ && spans_.back().end_ns - spans_.back().begin_ns >= kTellingNs) {
        all = spans_.back();
        all.end_ns -= all.begin_ns;
    }
    if (all.bytes < kTellingBytes || all.end_ns <= 0) return std::nullopt;
    return Forecast{static_cast<double>(all.bytes) * 1e9 / static_cast<double>(all.end_ns),
                    overhead_};
}

}  // namespace trainyard::store
