#pragma once
// Where a command writes, and what it may know about the terminal. stdout carries the payload only;
// progress, warnings and diagnostics go to err.

#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "trainyard/base/diagnostic.hpp"
#include "trainyard/base/units.hpp"

namespace trainyard::cli {

enum class Tone { bold, good, warn, bad, dim };

struct Io {
    std::ostream& out;
    std::ostream& err;
    std::string today;      ///< "YYYY-MM-DD"
    Seconds time_of_day{};  ///< since midnight, UTC
    bool color_out = false;
    bool color_err = false;
    int width = 80;  ///< columns of stdout

    /// `text` in the tone's colour if stdout shows colours, else unchanged.
    std::string paint(Tone tone, std::string_view text) const;
    /// Prints diagnostics to err.
    void report(const std::vector<Diagnostic>& diagnostics);
};

}  // namespace trainyard::cli
