#pragma once
// The first half of a plan: what was searched, what may be chosen, and what was.

#include <optional>
#include <vector>

#include "trainyard/plan/choose.hpp"

namespace trainyard::plan {

struct Found {
    Work work;
    Limits limits;
    SearchStats stats;
    std::vector<Rejection> rejections;
    std::vector<Option> options;  ///< every candidate with every purchase
    std::vector<Option> mine;     ///< those within the type, the count and the cluster of the user
    Choice choice;                ///< index into `mine`
    /// The type and node count the user named, cheapest purchase; into `mine`.
    std::optional<std::size_t> requested;

    const Option* chosen() const { return choice.index ? &mine[*choice.index] : nullptr; }
    const Option* named() const { return requested ? &mine[*requested] : nullptr; }
};

Found find_options(const Request& request, const catalog::Catalog& catalog, const Assumptions& a);

}  // namespace trainyard::plan
