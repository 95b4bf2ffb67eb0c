#include "verdict.hpp"

#include "trainyard/base/text.hpp"
#include "words.hpp"

namespace trainyard::plan {
namespace {

/// Why it is no comfortable plan; empty if it is one.
std::string tight_words(const Plan& p, const Option& o) {
    if (p.outcome != Outcome::tight) return {};
    std::string s;
    if (p.deadline && o.offer.wall.high > *p.deadline) {
        s = "the slow end of the range is " + format_duration(o.offer.wall.high - *p.deadline) +
            " late";
    }
    if (p.budget && to_usd(o.offer.cost.high) > *p.budget) {
        s += std::string(s.empty() ? "the dear end is " : " and ") +
             format_usd(to_usd(o.offer.cost.high) - *p.budget) + " over the budget";
    }
    if (!s.empty()) return "; tight: " + s;
    // The whole range meets the limits, but nobody promises the capacity.
    return p.only_spot ? "; tight: spot promises no capacity" : "";
}

/// "Run on 4 of your 8 p4d.24xlarge (32 A100 40 GB): 22.1 to 26.4 d, $0".
std::string own_verdict(const Plan& p, const Option& o) {
    const Candidate& c = o.candidate;
    const std::string all = std::to_string(p.have->nodes) + " " + c.instance->type;
    const std::string part =
        c.nodes == p.have->nodes ? "your " + all : std::to_string(c.nodes) + " of your " + all;
    std::string s = "Run on " + part + " (" + std::to_string(c.nodes * c.instance->accelerators) +
                    " " + device_name(*c.accelerator) +
                    "): " + time_span(o.offer.wall.low, o.offer.wall.high) + ", " +
                    money_compact(o.offer.cost.expected);
    if (p.outcome == Outcome::too_slow) {
        return "No: " + format_duration(o.offer.wall.expected - *p.deadline) +
               " past the deadline on " + part + ", and renting is in the table";
    }
    if (p.outcome == Outcome::over_budget) {
        return "No: " + format_usd(to_usd(o.offer.cost.expected) - *p.budget) +
               " over the budget on " + part + ", and renting is in the table";
    }
    return s + tight_words(p, o);
}

}  // namespace

std::string verdict_of(const Plan& p, const Assumptions& a, const std::string& reason) {
    if (!p.chosen) {
        if (p.outcome == Outcome::does_not_fit) return "No: " + reason;
        std::string s = "No: not feasible as asked";
        if (p.shortfall && p.shortfall->cost_factor > 1)
            s += ", " + times(p.shortfall->cost_factor) + " the budget" +
                 (p.shortfall->cheapest_is_late ? " even without the deadline" : "");
        if (p.shortfall && p.shortfall->time_factor > 1 && p.deadline)
            s += ", " + format_duration((p.shortfall->time_factor - 1) * *p.deadline) +
                 " past the deadline";
        return s;
    }
    const Option& o = *p.chosen;
    if (p.have) return own_verdict(p, o);
    const std::string service = p.service.service.substr(0, p.service.service.find(" +"));
    std::string what = describe_cluster(o.candidate) + " (" +
                       std::to_string(o.candidate.nodes * o.candidate.instance->accelerators) +
                       " " + device_name(*o.candidate.accelerator) + "), " +
                       purchase_words(o.offer) + ", " + o.offer.region + ", " + service + ": " +
                       time_span(o.offer.wall.low, o.offer.wall.high) + ", " +
                       money_compact(o.offer.cost.low);
    const std::string most = money_compact(o.offer.cost.high);
    if (most != money_compact(o.offer.cost.low)) what += " to " + most;
    std::string s = (p.only_spot ? "Only on spot: rent " : "Rent ") + what;
    if (p.outcome == Outcome::over_budget) {
        s = "No: " + format_usd(to_usd(o.offer.cost.expected) - *p.budget) +
            " over the budget; the nearest is " + what;
    }
    if (p.outcome == Outcome::too_slow) {
        s = "No: " + format_duration(o.offer.wall.expected - *p.deadline) +
            " past the deadline; the nearest is " + what;
    }
    s += tight_words(p, o);
    const int most_nodes = static_cast<int>(a.number("block.max_total"));
    if (o.candidate.nodes > most_nodes) {
        s += "; " + grouped(o.candidate.nodes) +
             " instances are not obtainable on demand, and Capacity Blocks end at " +
             std::to_string(most_nodes) + ": a private contract with AWS";
    }
    return s;
}

}  // namespace trainyard::plan
