#pragma once
// Time of day, waiting, and random bits from the system.

#include <chrono>
#include <cstdint>
#include <stop_token>

namespace trainyard::sys {

/// UTC, as far as the machine's clock is right.
using WallTime = std::chrono::sys_time<std::chrono::milliseconds>;
WallTime wall_time();

/// False if `stop` came first.
bool wait_for(std::chrono::nanoseconds duration, const std::stop_token& stop);

/// From the system's generator: to seed, not for keys.
std::uint64_t entropy();

}  // namespace trainyard::sys
