#pragma once
// The file that an option names to be written.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "command.hpp"

namespace trainyard::cli {

/// A usage error if --`option` was given and names one of `inputs`: files, or folders for the files
/// in them; words that are no files are ignored. Asked before anything is written.
std::optional<Error> overwritten_input(const Args& args, std::string_view command,
                                       std::string_view option,
                                       const std::vector<std::string>& inputs);

}  // namespace trainyard::cli
