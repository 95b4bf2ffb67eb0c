#pragma once
// The answer rests on simulated spot offers, not on expected values.

#include "found.hpp"

namespace trainyard::plan {

/// Plays the spot offers that the choice, the table or the Pareto front shows, chooses again, and
/// so on until all that are shown have been played. Offers that no list shows keep their expected
/// value: playing every one of them would take seconds.
void settle(Found& f, const Request& request, const catalog::Catalog& catalog,
            const Assumptions& a);

}  // namespace trainyard::plan
