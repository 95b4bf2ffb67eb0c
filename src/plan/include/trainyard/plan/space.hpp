#pragma once
// The legal mappings of a model onto N devices, small enough to search and complete enough to
// contain the optimum.

#include <vector>

#include "trainyard/plan/candidate.hpp"
#include "trainyard/workload/model.hpp"

namespace trainyard::plan {

/// Node counts worth trying up to `max`: 1, 2, 3, 4, 5, 6, 8, 10, 12, 16, … (powers of two, times
/// 1, 3 or 5).
std::vector<int> node_counts(int max);

/// Every combination of TP, PP, virtual stages, CP, EP, DP and ZeRO whose product is `devices`,
/// where TP stays inside a node. Laws that need the model (heads, layers, experts) are already
/// applied; the batch laws are not.
std::vector<workload::Parallelism> parallelisms(const workload::Model& model,
                                                workload::Method method, int sequence, int devices,
                                                int per_node);

/// Sequences per step nearest to the wish that data * micro_batch divides; 0 if that would leave
/// the tolerance. A fixed batch is only rounded down.
int rounded_batch(const Work& work, int data, int micro_batch, double tolerance);

/// All trainings over `devices`: parallelisms x micro-batch x recompute, legal in every respect.
/// For tests and bounds; the search walks the same space lazily.
std::vector<workload::Training> trainings(const workload::Model& model,
                                          const workload::Training& base, const Work& work,
                                          int devices, int per_node, double tolerance);

}  // namespace trainyard::plan
