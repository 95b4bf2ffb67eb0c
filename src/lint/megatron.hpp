#pragma once
// Megatron-LM arguments in scripts, held against the laws of a mapping that the planner keeps
// (workload/training.hpp), and against the devices that the script asks for.

#include <string>
#include <string_view>
#include <vector>

#include "launch.hpp"

namespace trainyard::lint {

struct MegatronFault {
    std::string law;  ///< id of workload's law, or "world", "tp-node", "pp-even"
    Said at;          ///< the option to blame
    std::string what;
    std::string fix;
};

/// Sizes that the script does not state are taken as legal: only what is written can be wrong.
std::vector<MegatronFault> megatron_faults(const Case& c);

/// Reports the faults of these laws.
class Found;
void report_megatron(const Case& c, Found& found, std::initializer_list<std::string_view> laws);

}  // namespace trainyard::lint
