#include "weighted.hpp"

#include <algorithm>

namespace trainyard::plan {

std::vector<std::string> heaviest_first(std::vector<Weighted> all) {
    std::stable_sort(all.begin(), all.end(),
                     [](const Weighted& a, const Weighted& b) { return a.weight > b.weight; });
    std::vector<std::string> out;
    out.reserve(all.size());
    for (Weighted& w : all) out.push_back(std::move(w.text));
    return out;
}

}  // namespace trainyard::plan
