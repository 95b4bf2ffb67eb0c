#pragma once
// Runs another program and collects what it prints.

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

#include "trainyard/base/result.hpp"

namespace trainyard::sys {

struct ProcessOutput {
    int status = 0;  ///< exit status; 128 + number if a signal ended it
    std::string out;
    std::string err;
};

/// `command[0]` is looked up on PATH; no shell. Standard input is empty. A program that cannot be
/// started, prints more than `max_output` bytes or runs longer than `limit` (it is then killed) is
/// ErrorKind::world; the diagnostic names command[0] only, since arguments may be secret.
Result<ProcessOutput> run_process(const std::vector<std::string>& command,
                                  std::chrono::milliseconds limit,
                                  std::size_t max_output = std::size_t{1} << 20U);

}  // namespace trainyard::sys
