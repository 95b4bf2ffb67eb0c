#pragma once
// Many independent runs of one job (200 fine-tunes): no run needs a fabric, so devices are filled
// one run each and nodes only set how many run at once. Time = waves of runs; money hardly depends
// on the node count.

#include "eligible.hpp"

namespace trainyard::plan {

/// Adds one candidate per useful node count of this type, or a rejection.
void search_copies(const Eligible& e, const Request& request, const Work& work,
                   const catalog::Catalog& catalog, const Assumptions& a, SearchResult& out);

/// The accelerator the user's own hours refer to (accelerator_hours_each): an A100 with 40 GB.
inline constexpr const char* kMeasuredOn = "A100-40";

}  // namespace trainyard::plan
