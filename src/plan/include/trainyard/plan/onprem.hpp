#pragma once
// Buy or rent: the cost of owned hardware per used hour against the cloud prices of the same
// machine.
//
//   owned(years)        = capex + kW * PUE * hours * $/kWh + staff + maintenance
//   per used hour       = owned / (hours * utilisation)
//   break-even against c = owned / (hours * c): above this utilisation owning is cheaper than
//   renting at c $/h
// Power is charged for every hour of the term, idle or not: an upper bound that hurts owning.

#include <string>
#include <vector>

#include "trainyard/catalog/catalog.hpp"
#include "trainyard/doc/node.hpp"
#include "trainyard/plan/money.hpp"
#include "trainyard/workload/job.hpp"

namespace trainyard::plan {

struct OwnedItem {
    std::string name;
    std::string detail;
    MicroUsd amount;
};

struct BreakEven {
    std::string purchase;  ///< "on demand", "Capacity Block", "3-year commitment"
    UsdPerSecond rate;
    catalog::Provenance provenance;
    double utilisation = 0;   ///< over the quoted years; above 1: never
    double longer = 0;        ///< the same over four years
    bool needs_term = false;  ///< the price itself binds for years
};

struct OwnedScenario {
    double utilisation = 0;
    double years = 0;
    MicroUsd total;
    Usd per_used_hour;
    bool own = false;
    std::string verdict;
};

struct OwnedAnswer {
    std::string reference;
    double years = 0;
    std::vector<OwnedItem> items;
    MicroUsd total;
    Usd per_wall_hour;
    std::vector<BreakEven> break_even;
    std::vector<OwnedScenario>
        scenarios;  ///< each utilisation over the quoted years, the highest also over four
    std::vector<std::string> missing;  ///< costs that the quote leaves out, and risks
    std::string verdict;
};

/// The reference must be a type with at least one known price; else a bad-input error.
Result<OwnedAnswer> compare_onprem(const workload::OnPrem& quote,
                                   const std::vector<std::string>& regions,
                                   const catalog::Catalog& catalog);
std::string onprem_text(const OwnedAnswer& a);
doc::Node onprem_json(const OwnedAnswer& a);

}  // namespace trainyard::plan
