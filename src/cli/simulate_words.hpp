#pragma once
// The sentences about a study, each derived from its numbers: used by text, JSON and HTML alike.

#include <string>
#include <vector>

#include "simulate_study.hpp"

namespace trainyard::cli {

enum class Certainty { sure, risky, no };
std::string_view to_string(Certainty c);
/// sure: every limit is kept in at least kSureShare of the runs; no: one is broken in most.
Certainty certainty_of(const spot::Summary& s);

/// One line: yes or no, time and money with their ninth run of ten, the shares behind it.
std::string verdict_words(const SimulateRequest& request, const Study& study);

struct Advice {
    std::vector<std::string> lines;  ///< what to do, most important first
    std::string next;                ///< a command
};
Advice advice_for(const SimulateRequest& request, const Study& study);

/// What the numbers rest on.
struct Assumption {
    std::string text, source, as_of, status;
};
std::vector<Assumption> assumptions_of(const SimulateRequest& request);

/// The parts of the wall time that are not useful work, largest first, and useful work before them.
struct TimePart {
    std::string key;   ///< "restart_s" without the unit: "restart"
    std::string name;  ///< in words
    Seconds time;
    double share = 0;  ///< of the mean wall time
};
std::vector<TimePart> time_parts(const spot::TimeSplit& split);

struct MoneyPart {
    std::string key, name;
    Usd amount;
};
std::vector<MoneyPart> money_parts(const spot::MoneySplit& split);

/// "what" for an Ending.
std::string_view to_string(spot::Ending e);
std::string_view to_string(spot::Purchase p);
std::string_view to_string(spot::RestoreFrom r);

/// Breaks `text` at blanks (never before "%") into lines of at most 100 columns; the first begins
/// with `lead`, the others are indented.
std::string wrapped(const std::string& lead, const std::string& text);
/// Every line of a table moved two blanks to the right.
std::string indented(const std::string& table);

std::string dollar_words(double usd);     ///< "$7,129"; cents only below $100
std::string share_words(double share);    ///< "99.3 %", "100 %", "< 0.1 %"
std::string runs_words(std::uint64_t n);  ///< "10,000"

}  // namespace trainyard::cli
