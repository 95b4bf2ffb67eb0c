#pragma once
// The fastest mapping that fits on N devices: the inner loop of the search.

#include <optional>

#include "trainyard/plan/search.hpp"

namespace trainyard::plan {

struct MappingQuery {
    const workload::Model* model = nullptr;
    workload::Training base;
    const Work* work = nullptr;
    int devices = 1;
    int per_node = 1;
    double batch_tolerance = 0.1;
    double memory_headroom = 0.05;
    Pruning pruning = Pruning::on;
};

struct BestMapping {
    workload::Training training;
    Seconds total;       ///< steps * step
    Bytes least_memory;  ///< smallest peak seen, for "does not fit by …"
    bool found = false;
    bool batch_legal = false;  ///< at least one mapping divided the batch
};

/// Mappings within this share of the fastest are ties; the simplest of them is taken.
inline constexpr double kTie = 0.02;

BestMapping best_mapping(const MappingQuery& q, perf::Predictor& predictor, SearchStats& stats);

/// A plan leaves room: the memory model's own reserve and the headroom on top.
bool fits_plan(const perf::MemoryBreakdown& m, double headroom);

/// Optimizer steps that see every sequence once.
double steps_of(const Work& work, int global_batch);

}  // namespace trainyard::plan
