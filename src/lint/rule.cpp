#include "trainyard/lint/rule.hpp"

#include <algorithm>

#include "rule_list.hpp"

namespace trainyard::lint {

const std::vector<Rule>& rules() {
    static const std::vector<Rule> kRules = [] {
        std::vector<Rule> all = listed_rules();
        std::sort(all.begin(), all.end(), [](const Rule& a, const Rule& b) { return a.id < b.id; });
        return all;
    }();
    return kRules;
}

const Rule* rule(std::string_view id) {
    const auto& all = rules();
    const auto found =
        std::find_if(all.begin(), all.end(), [&](const Rule& r) { return r.id == id; });
    return found == all.end() ? nullptr : &*found;
}

}  // namespace trainyard::lint
