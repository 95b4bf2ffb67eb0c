#pragma once
#include <map>
#include <string>

namespace trainyard::catalog {
/// data/catalog/*.csv, by base name; generated at build time.
const std::map<std::string, std::string>& embedded_files();
}  // namespace trainyard::catalog
