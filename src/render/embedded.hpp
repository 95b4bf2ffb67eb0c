#pragma once
#include <map>
#include <string>

namespace trainyard::render {
/// data/render/*.csv, by base name; generated at build time.
const std::map<std::string, std::string>& embedded_files();
}  // namespace trainyard::render
