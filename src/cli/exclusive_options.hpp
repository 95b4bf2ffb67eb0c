#pragma once
// Options that contradict each other: given together they are a usage error (exit code 2), never a
// silent choice of one.

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "command.hpp"

namespace trainyard::cli {

struct Exclusive {
    std::string_view first;   ///< option or positional of the command's table
    std::string_view second;  ///< the same
    std::string_view why;     ///< "both say how much to train"
};

/// An error of kind usage at "trainyard COMMAND".
Error usage_error(std::string_view command, std::string what, std::string why, std::string fix);

/// The first pair that the user gave together.
std::optional<Error> exclusive_mistake(const Args& args, std::string_view command,
                                       std::span<const Exclusive> pairs);

}  // namespace trainyard::cli
