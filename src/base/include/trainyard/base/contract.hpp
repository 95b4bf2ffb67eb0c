#pragma once
// TRAINYARD_ASSERT(condition, "why it must hold"): programmer errors only, on in every build,
// unreachable from user input. Prints file:line and the reason to stderr and aborts (exit code 70
// via the handler in main).

namespace trainyard {
[[noreturn]] void contract_failed(const char* condition, const char* why, const char* file,
                                  int line);
}  // namespace trainyard

#define TRAINYARD_ASSERT(condition, why) \
    ((condition) ? static_cast<void>(0)  \
                 : ::trainyard::contract_failed(#condition, why, __FILE__, __LINE__))
