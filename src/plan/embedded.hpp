#pragma once
// The tables of data/plan, compiled in by trainyard_embed (basename -> contents).

#include <map>
#include <string>

namespace trainyard::plan {
const std::map<std::string, std::string>& embedded_files();
}  // namespace trainyard::plan
