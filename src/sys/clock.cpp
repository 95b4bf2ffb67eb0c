#include "trainyard/sys/clock.hpp"

#include <condition_variable>
#include <mutex>
#include <random>

namespace trainyard::sys {

WallTime wall_time() {
    return std::chrono::floor<std::chrono::milliseconds>(std::chrono::system_clock::now());
}

bool wait_for(std::chrono::nanoseconds duration, const std::stop_token& stop) {
    std::mutex mutex;
    std::condition_variable_any nobody;
    std::unique_lock lock(mutex);
    nobody.wait_for(lock, stop, duration, [] { return false; });
    return !stop.stop_requested();
}

std::uint64_t entropy() {
    std::random_device device;
    return (std::uint64_t{device()} << 32U) | device();
}

}  // namespace trainyard::sys
