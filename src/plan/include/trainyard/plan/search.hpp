#pragma once
// Finds, for every instance type and node count, the fastest mapping that fits in memory.
//
// For a fixed type and count money is proportional to time, whatever the purchase, so the fastest
// mapping is also the cheapest: the Pareto front over (type, count, purchase) needs only these
// winners. Two cuts keep it quick, and neither can lose a winner: memory is checked before time,
// and a mapping whose lower bound is not below the best step so far is not predicted.
// search_test.cpp compares with brute force.

#include <string>
#include <vector>

#include "trainyard/plan/assumptions.hpp"
#include "trainyard/plan/candidate.hpp"
#include "trainyard/plan/request.hpp"

namespace trainyard::plan {

enum class Lost {
    no_bf16,
    no_fp8,
    no_price,
    memory,
    retired,
    friction,
    bandwidth,
    unknown_facts,
    batch,
    dominated,
    region
};

/// Why a type has no candidate at all, with the number that decided.
struct Rejection {
    std::string instance;
    Lost why = Lost::memory;
    std::string text;
    double number = 0;  ///< GiB short, Gbit/s, … as the text says
};

struct SearchStats {
    long mappings = 0;  ///< combinations looked at
    long memory_checks = 0;
    long predictions = 0;
    long cut_by_memory = 0;
    long cut_by_bound = 0;
};

struct SearchResult {
    std::vector<Candidate> candidates;  ///< the fastest mapping per (type, nodes)
    std::vector<Rejection> rejections;
    SearchStats stats;
};

enum class Pruning { on, off };

struct SearchLimits {
    int max_nodes = 4096;
    Pruning pruning = Pruning::on;
};

/// The work of a job: sequences, sequence length, batch (the user's or the default with its
/// source).
Work work_of(const workload::Job& job, const Assumptions& assumptions);

/// The fixed part of every training of this job (method, optimizer, precision, sequence).
workload::Training base_training(const workload::Job& job, const Work& work);

/// All types, or only those the job names. Sizes end where the deadline is met four times over.
SearchResult search(const Request& request, const catalog::Catalog& catalog,
                    const Assumptions& assumptions, const SearchLimits& limits = {});

/// One type at the given node counts, whatever rule would have kept it out (V100 falls back to
/// fp16).
SearchResult search_type(const Request& request, const catalog::Catalog& catalog,
                         const Assumptions& assumptions, const catalog::Instance& instance,
                         const std::vector<int>& nodes, Pruning pruning = Pruning::on);

}  // namespace trainyard::plan
