// The registry: adding a policy is its file policy_<name>.cpp, a declaration here and a line below.

#include <array>

#include "trainyard/spot/policy.hpp"

namespace trainyard::spot {

// name, in the order of the help. Each is defined in policy_<name>.cpp.
#define TRAINYARD_POLICY(name) PolicyInfo name##_policy();
#include "policies.def"
#undef TRAINYARD_POLICY

const std::vector<PolicyInfo>& policies() {
    static const std::vector<PolicyInfo> all = [] {
        std::vector<PolicyInfo> list;
#define TRAINYARD_POLICY(name) list.push_back(name##_policy());
#include "policies.def"
#undef TRAINYARD_POLICY
        return list;
    }();
    return all;
}

std::unique_ptr<Policy> make_policy(std::string_view text) {
    const std::size_t colon = text.find(':');
    const std::string_view name = text.substr(0, colon);
    const std::string_view argument =
        colon == std::string_view::npos ? std::string_view{} : text.substr(colon + 1);
    for (const PolicyInfo& info : policies()) {
        if (info.name == name) return info.make(argument);
    }
    return nullptr;
}

}  // namespace trainyard::spot
