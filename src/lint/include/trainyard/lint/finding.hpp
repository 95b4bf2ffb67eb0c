#pragma once
// What a rule found in the user's files: where, what, why it costs money or breaks training, and
// what to do.

#include <optional>
#include <string>
#include <vector>

#include "trainyard/base/diagnostic.hpp"
#include "trainyard/base/units.hpp"

namespace trainyard::lint {

/// Another place that belongs to a finding: the second file of a contradiction.
struct Related {
    Location where;
    std::string what;
};

/// A mechanical repair: on one line, `remove` (as it stands there) becomes `insert`.
struct Edit {
    Location where;  ///< of the first character of `remove`
    std::string remove;
    std::string insert;
};

struct Finding {
    std::string rule;
    Severity severity = Severity::error;
    Location where;
    std::string text;  ///< the words that are wrong, as written; may be empty
    std::string what;  ///< one sentence without a full stop
    std::string why;   ///< what it costs or breaks
    std::string fix;
    /// Versions of the tool for which this holds; empty: all.
    std::string holds_for;
    bool needs_account = false;  ///< only the account can tell for sure
    /// What is wasted while it runs like this, at the on-demand price we know; unset: not computed.
    std::optional<UsdPerSecond> waste;
    /// Fraction of the hardware's speed (0 to 1) that is lost; unset: not computed.
    std::optional<double> efficiency_lost;
    std::vector<Related> related;
    std::vector<Edit> edits;
    /// Set if the user allowed it: the reason given.
    std::optional<std::string> allowed;
};

}  // namespace trainyard::lint
