#pragma once
// Which of the options to recommend, and why each other one lost.
//
// Tiers, in order: guaranteed capacity that meets deadline and budget with the whole 80 % range;
// the same in expectation
// ("tight"); then offers that lean on spot. Inside a tier the cheapest wins (plus what a day of
// delay is worth, if the user says so); options within `choice.near_equal` of it count as equal in
// price. Of those, one that another beats is out: much faster (`choice.near_equal_time`) for the
// same money, or cheaper by `choice.near_equal` and no slower. Among the rest the fewest nodes win,
// then the smaller product of time and money, then the simpler mapping. Independent runs pay
// nothing for speed: their cost hardly depends on the node count. Without a deadline nothing is too
// slow: `choice.impatience` widens what counts as equal in price, and `choice.patience` breaks ties
// among those.

#include <optional>
#include <string>
#include <vector>

#include "trainyard/plan/plan.hpp"

namespace trainyard::plan {

/// Longer than any run: no deadline was given.
inline constexpr Seconds kNoDeadline = 1e7 * kDay;

struct Limits {
    Seconds deadline;  ///< kNoDeadline if the user gave none
    Seconds patience;  ///< breaks ties when there is no deadline; never a limit
    bool deadline_given = false;
    std::optional<Usd> budget;
    std::optional<Usd> value_per_day;
    SpotPreference spot = SpotPreference::when_safe;
    bool independent = false;  ///< copies: losing one node stops one run, not all
};
Limits limits_of(const Request& request, const Assumptions& a);

struct Choice {
    Outcome outcome = Outcome::infeasible;
    std::optional<std::size_t> index;  ///< into the options
    bool only_spot = false;  ///< no guaranteed capacity meets the limits: never more than tight
};
Choice choose(const std::vector<Option>& options, const Limits& limits, const Assumptions& a);

/// May a verdict rest on this offer at first? Guaranteed purchases yes; spot only in small gangs at
/// a fresh price.
bool is_safe(const Option& o, const Limits& limits, const Assumptions& a);

/// Would an increase of the on-demand quota, which this offer may need, end after the deadline?
bool quota_comes_late(const Option& o, const Limits& limits, const Assumptions& a);
/// The cheapest Capacity Block that meets the limits with its whole range: it needs no quota. Null
/// if there is none.
const Option* block_in_time(const std::vector<Option>& options, const Limits& limits);

/// Why a verdict does not rest on an offer with spot in it: the size of the gang, or the age of the
/// price.
std::string spot_doubt(const Option& o, const Limits& limits, const Assumptions& a);

/// One number that lost it against the winner.
std::string why_lost(const Option& loser, const Option& winner, const Limits& limits,
                     const Assumptions& a);

/// Options that no other beats in both expected time and expected cost, fastest first.
std::vector<Option> pareto_front(const std::vector<Option>& options);

}  // namespace trainyard::plan
