#pragma once
// The ways to pay for a candidate: on demand, spot, Capacity Block, commitments, and a base on
// guaranteed capacity with spot on top. Every offer is an expected value with a range, and says
// what it assumes.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trainyard/plan/bill.hpp"
#include "trainyard/plan/request.hpp"

namespace trainyard::plan {

enum class Purchase { on_demand, spot, capacity_block, mixed, commitment_1y, commitment_3y, owned };
std::string_view to_string(Purchase p);
/// Guaranteed for the whole run once bought: not spot, not mixed.
bool is_guaranteed(Purchase p);

struct TimeRange {
    Seconds low;
    Seconds expected;
    Seconds high;
};
struct MoneyRange {
    MicroUsd low;
    MicroUsd expected;
    MicroUsd high;
};

/// Checkpointing and interruptions of one gang.
struct RunRisk {
    double interruptions = 0;       ///< expected over the run
    double interruptions_high = 0;  ///< with the upper edge of the band
    Seconds mean_between;           ///< of the whole gang
    double band_low = 0,
           band_high = 0;  ///< per instance and MONTH (AWS Spot Advisor); 0 if not spot
    std::string band_as_of;
    Seconds save;                   ///< blocking time of one checkpoint
    Seconds interval;               ///< Daly's optimum, at least the save itself, at most the cap
    bool interval_capped = false;   ///< the optimum is longer than checkpoint.max_interval
    Seconds lost_per_interruption;  ///< half an interval and the restart
    Seconds wait_per_interruption;  ///< without capacity, not billed
};

/// Daly's higher-order optimum of compute time between two saves
/// (doi 10.1016/j.future.2004.11.016): sqrt(2 d M) [1 + sqrt(d/2M)/3 + (d/2M)/9] - d for d < 2M,
/// else M.
Seconds checkpoint_interval(Seconds save, Seconds mean_between_failures);

/// Whole days 1-14, or the next multiple of 7 up to 182; nullopt beyond.
std::optional<int> block_days(Seconds needed, const Assumptions& a);

struct Commitment {
    int years = 1;
    MicroUsd total;  ///< the whole term, for all nodes
    double break_even =
        0;  ///< utilisation above which it beats on demand: committed rate / on-demand rate
    MicroUsd amortised;  ///< only the hours of this job: NOT what is paid unless the rest is used
};

struct Offer {
    Purchase purchase = Purchase::on_demand;
    std::string region;
    UsdPerSecond rate;  ///< per instance, before a service's uplift
    catalog::Provenance rate_source;
    int price_age_days = -1;  ///< -1: unknown
    bool stale = false;
    catalog::Provenance spot_source;  ///< of the spot price in it, if there is one
    int spot_age_days = -1;
    bool spot_stale = false;
    TimeRange wall;
    MoneyRange cost;
    Bill bill;
    DataNeeds needs;
    RunRisk risk;
    std::optional<int> block_days;
    std::optional<Commitment> commitment;
    int base_nodes = 0;  ///< mixed: nodes on guaranteed capacity
    std::string note;
    std::uint64_t played = 0;  ///< simulated runs behind time and cost; 0: an expected value
};

/// Every purchase that has a price for this type in one of the regions, cheapest region each. Spot
/// only if the code can resume and the job is not mission critical. `service` decides uplift and
/// head node.
std::vector<Offer> offers(const Candidate& c, const Request& request, const Work& work,
                          const std::string& service, const catalog::Catalog& catalog,
                          const Assumptions& a);

/// Regions the request allows; the default three when it names none.
std::vector<std::string> regions_of(const workload::Job& job);

/// Start-up before the first step: boot, image, load, framework; Trainium adds the compile.
Seconds startup_time(const Candidate& c, const DataNeeds& needs, const Assumptions& a);

}  // namespace trainyard::plan
