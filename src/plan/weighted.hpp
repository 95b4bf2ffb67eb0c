#pragma once
// Sentences with a weight: reasons and risks are collected in any order and printed heaviest first.

#include <string>
#include <vector>

namespace trainyard::plan {

struct Weighted {
    int weight = 0;
    std::string text;
};

/// Texts, heaviest first; equal weights keep their order.
std::vector<std::string> heaviest_first(std::vector<Weighted> all);

}  // namespace trainyard::plan
