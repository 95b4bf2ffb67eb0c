#pragma once
// Taking nodes from pools in an order: what most policies end with.

#include "trainyard/spot/policy.hpp"

namespace trainyard::spot {

/// Adds up to `count` nodes of the purchase type: those held first, since a move costs a restart,
/// then the cheapest pool. Returns how many there were.
int fill(const View& view, Purchase purchase, int count, Decision& decision);
void clear(Decision& decision);

}  // namespace trainyard::spot
