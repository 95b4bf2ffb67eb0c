#pragma once
// What a rule's find() writes into.

#include <string>
#include <vector>

#include "model.hpp"
#include "said.hpp"
#include "trainyard/lint/finding.hpp"
#include "trainyard/lint/rule.hpp"

namespace trainyard::lint {

/// Fills in what the rule's entry says once for all: id, severity, why, fix, versions.
class Found {
  public:
    Found(const Rule& rule, std::vector<Finding>& into) : rule_(rule), into_(into) {}

    /// `what` is one sentence without a full stop, about this file, with its values. The result
    /// may be given another fix, severity, waste, related places or edits.
    Finding& at(const Location& where, std::string what);
    /// With the offending words.
    Finding& at(const Said& said, std::string what);

  private:
    const Rule& rule_;
    std::vector<Finding>& into_;
};

/// "4x p5.48xlarge at $220.16/h": what `nodes` of a type cost, for the end of a sentence; "" if no
/// price is known.
std::string price_words(const Case& c, std::string_view type, std::int64_t nodes);
/// The fraction of speed that `nodes` of a type lose over TCP, by our model.
std::optional<double> lost_over_tcp(const Case& c, std::string_view type, std::int64_t nodes);
/// What on-demand costs more than spot for these nodes; nullopt if a price is not known or less.
std::optional<UsdPerSecond> spot_saving(const Case& c, std::string_view type, std::int64_t nodes);
std::optional<UsdPerSecond> price_of(const Case& c, std::string_view type, std::int64_t nodes);

}  // namespace trainyard::lint
