#pragma once
// Files compiled into the binary for `trainyard simulate` (src/cli/CMakeLists.txt).

#include <map>
#include <string>

namespace trainyard::cli {

/// By base name: rules.csv, report.html, report.css, report.js, chart.min.js.
const std::map<std::string, std::string>& simulate_files();

}  // namespace trainyard::cli
