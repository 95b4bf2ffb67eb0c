#pragma once
// From an option of a plan to a run that `spot::simulate` can play, and the same as data: "run" in
// the JSON of the plan, so that `trainyard simulate plan.json` needs neither model nor catalog.

#include "trainyard/base/result.hpp"
#include "trainyard/catalog/catalog.hpp"
#include "trainyard/doc/node.hpp"
#include "trainyard/plan/candidate.hpp"
#include "trainyard/plan/offer.hpp"
#include "trainyard/spot/run.hpp"

namespace trainyard::plan {

struct Option;
struct Scaling;

/// A run and the policy that the offer stands for: "on_demand", "reserved", "spot_only",
/// "share:0.5".
struct Run {
    spot::RunSpec spec;
    std::string policy;
};

/// Pools, in this order where they have a price: spot, on demand, and the Capacity Block or the
/// commitment of the offer. Spot is one zone of the offer's region: its process has the
/// interruption band of the type (the middle of it) and the ageing of `spot::process_from_band`.
/// Prices include the uplift of `service`. `scaling` gives the speed at fewer nodes; without it the
/// run is as fast as its nodes are many. Bill items other than compute go into `RunSpec::other`.
/// Copies (independent runs): one node, with all the runs it carries.
Run make_run(const Option& option, const Request& request, const std::string& service,
             const catalog::Catalog& catalog, const Assumptions& a, const Scaling* scaling);

/// Keys: docs/reference/plan-json.md, "run".
doc::Node run_json(const Run& run);
/// Reads what run_json wrote, or the user edited; every mistake is a diagnostic at its place.
Result<Run> read_run(const doc::Node& run);

}  // namespace trainyard::plan
