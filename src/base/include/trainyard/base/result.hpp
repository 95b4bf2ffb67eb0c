#pragma once
// Result<T>: the value, or an Error that carries the exit code and the diagnostics.
// A nodiscard wrapper of tl::expected (std::expected needs -std=c++23 under GCC 12).

#include <tl/expected.hpp>

#include <string>
#include <utility>
#include <vector>

#include "trainyard/base/diagnostic.hpp"

namespace trainyard {

/// The values are the process exit codes (see docs/reference/exit-codes.md).
enum class ErrorKind { answered_no = 1, usage = 2, bad_input = 3, world = 4, bug = 70 };

struct Error {
    ErrorKind kind = ErrorKind::bad_input;
    std::vector<Diagnostic> diagnostics;
};

inline Error bad_input(Diagnostic d) { return {ErrorKind::bad_input, {std::move(d)}}; }
inline Error bad_input(std::vector<Diagnostic> all) {
    return {ErrorKind::bad_input, std::move(all)};
}

template <typename T>
class [[nodiscard]] Result : public tl::expected<T, Error> {
  public:
    using tl::expected<T, Error>::expected;
    // Implicit, so that a function can return an Error where it declares a Result.
    // NOLINTNEXTLINE(google-explicit-constructor)
    Result(Error e) : tl::expected<T, Error>(tl::unexpect, std::move(e)) {}
};

}  // namespace trainyard
