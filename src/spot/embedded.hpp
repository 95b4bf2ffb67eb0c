#pragma once
#include <map>
#include <string>

namespace trainyard::spot {
/// data/spot/*.csv, by base name; generated at build time.
const std::map<std::string, std::string>& embedded_files();
}  // namespace trainyard::spot
