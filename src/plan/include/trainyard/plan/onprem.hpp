#pragma once
// Buy or rent: the cost of owned hardware per used hour against the cloud prices of the same machine.
//
// owned(years) = capex (1 - resale) + kW * PUE * hours * $/kWh + staff + maintenance + colocation
// per used hour = owned / (hours * utilisation); break-even utilisation against a cloud price c = owned / (hours * c).

#include <optional>
#include <string>
#include <vector>

#include "trainyard/base/result.hpp"
#include "trainyard/catalog/catalog.hpp"
#include "trainyard/doc/node.hpp"
#include "trainyard/plan/money.hpp"

namespace trainyard::plan {

struct OwnedHardware {
    std::string reference = "p5.48xlarge";  ///< the instance it replaces
    Usd capex;
    double kilowatt = 0;
    double pue = 1.3;
    double usd_per_kwh = 0;
    double staff_fte = 0;
    Usd staff_per_year;
    double maintenance_per_year = 0;  ///< share of capex
    double years = 3;
    double resale = 0;                ///< share of capex got back at the end
    std::vector<double> utilisation;  ///< the user's scenarios, 0..1
    std::vector<double> horizon_years;  ///< one per scenario; empty = years
};
Result<OwnedHardware> read_onprem(const doc::Node& node);

struct OwnedItem {
    std::string name;
    MicroUsd amount;
};
struct BreakEven {
    std::string purchase;  ///< "on demand", "Capacity Block", "3-year commitment"
    UsdPerSecond rate;
    catalog::Provenance provenance;
    double utilisation = 0;  ///< above it owning is cheaper; may exceed 1: never
};
struct OwnedScenario {
    double utilisation = 0;
    double years = 0;
    MicroUsd total;
    Usd per_used_hour;
    bool own = false;  ///< owning beats every cloud price that needs no commitment longer than the use
    std::string verdict;
};
struct OwnedAnswer {
    OwnedHardware hardware;
    std::vector<OwnedItem> items;  ///< over `years`
    MicroUsd total;
    Usd per_wall_hour;
    std::vector<BreakEven> break_even;
    std::vector<OwnedScenario> scenarios;
    std::vector<std::string> missing;  ///< costs the user did not give
};
Result<OwnedAnswer> compare_onprem(const OwnedHardware& h, const std::vector<std::string>& regions,
                                   const catalog::Catalog& catalog);
std::string report_onprem(const OwnedAnswer& a);
doc::Node onprem_json(const OwnedAnswer& a);

}  // namespace trainyard::plan
