#pragma once
// What `trainyard plan --json` chose: the files of a case are held against it. Everything that it
// states keeps its place in the plan.

#include <optional>
#include <string>

#include "said.hpp"
#include "trainyard/base/result.hpp"
#include "trainyard/base/units.hpp"
#include "trainyard/catalog/catalog.hpp"
#include "trainyard/lint/check.hpp"
#include "trainyard/lint/finding.hpp"

namespace trainyard::lint {

struct Planned {
    doc::Node root;  ///< the whole plan
    Said type, purchase, region;
    const catalog::Instance* instance = nullptr;  ///< of `type`; nullptr: not in the catalogue
    std::optional<Count> nodes;
    std::optional<Count> data, tensor, pipeline, context, expert;
    std::optional<Count> micro_batch, global_batch, sequence;
    std::optional<Count> zero;  ///< stage, 0 to 3
    std::optional<Seconds> expected;
    Location expected_at;
    std::optional<Usd> cost;    ///< expected
    std::optional<Usd> budget;  ///< what the user allowed
    Location cost_at, budget_at;
    std::optional<UsdPerSecond> rate;  ///< per instance, as bought
    bool is_gang = true;               ///< one job on all nodes: no copies, no sharing of nodes

    bool has_type(const std::vector<Said>& types) const;  ///< the plan's is among them
    bool buys(std::string_view word) const { return purchase.is(word); }
};

class Found;
/// A finding about `said`, with what the plan says beside it.
Finding& against_plan(Found& found, const Said& said, const Location& planned, std::string what);

/// The same for a number that is called `name`; the fix is the plan's.
void other_than_planned(Found& found, std::string_view name, const Count& stated,
                        const Count& planned);

/// Refuses what is no plan, and a plan that recommends nothing.
Result<Planned> read_planned(const SourceText& plan, const catalog::Catalog& catalog);

}  // namespace trainyard::lint
