#pragma once
// The version comes from project() in the root CMakeLists.txt.

#include <string_view>

namespace trainyard::cli {

inline constexpr std::string_view kVersion = TRAINYARD_VERSION;

}  // namespace trainyard::cli
