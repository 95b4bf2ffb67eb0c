#pragma once
// What every fuzz entry needs: the input as text, and a check that also holds in release builds.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "trainyard/base/contract.hpp"
#include "trainyard/base/result.hpp"

namespace trainyard::fuzz {

inline std::string_view as_text(const std::uint8_t* data, std::size_t size) {
    return {reinterpret_cast<const char*>(data), size};
}

/// A refusal must say something, and where; an error that names no place helps nobody.
inline void expect_explained(const Error& error) {
    TRAINYARD_ASSERT(!error.diagnostics.empty(), "a refusal carries a diagnostic");
    for (const Diagnostic& d : error.diagnostics) {
        TRAINYARD_ASSERT(!d.what.empty() && !d.where.file.empty(),
                         "a diagnostic says what and where");
    }
}

}  // namespace trainyard::fuzz
