#pragma once
// How an option looks in help and reference pages.

#include <string>

#include "command.hpp"

namespace trainyard::cli {

std::string option_left(const Option& option);   ///< "--tokens N"
std::string option_right(const Option& option);  ///< help with choices and default

}  // namespace trainyard::cli
