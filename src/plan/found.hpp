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
    /// Best of another type than the one the user named; into `options`.
    std::optional<std::size_t> elsewhere;

    const Option* chosen() const { return choice.index ? &mine[*choice.index] : nullptr; }
    const Option* named() const { return requested ? &mine[*requested] : nullptr; }
    const Option* other() const { return elsewhere ? &options[*elsewhere] : nullptr; }
};

/// Sets `mine`, `choice`, `requested` and `elsewhere` from the options as they are now.
void choose_among(Found& f, const Request& request, const Assumptions& a);

/// The search, every way to pay, and the choice. Spot offers that the answer shows have been played
/// (settle.hpp).
Found find_options(const Request& request, const catalog::Catalog& catalog, const Assumptions& a);

}  // namespace trainyard::plan
