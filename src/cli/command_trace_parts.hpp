#pragma once
// The actions of `trainyard trace`, one file each.

#include "command.hpp"
#include "command_trace_input.hpp"
#include "trainyard/doc/node.hpp"
#include "trainyard/spot/stats.hpp"

namespace trainyard::cli {

struct TraceStats {
    std::vector<spot::PoolStats> pools;
    std::vector<spot::AgeBand> ages;  ///< of the up times of all pools together
    std::vector<spot::ZoneGroup> groups;
    struct Price {
        std::string name;
        std::string file;
        spot::PriceStats stats;
    };
    std::vector<Price> prices;  ///< of files with prices alone
};
TraceStats trace_stats(const spot::TraceSet& traces, int gang);

std::string trace_stats_text(const TraceStats& stats, const TraceInput& input, Io& io);
std::string trace_stats_csv(const TraceStats& stats);
doc::Node trace_stats_json(const TraceStats& stats, const TraceInput& input);

Result<Outcome> run_trace_fit(const Args& args, const TraceInput& input, Io& io);

/// "0.345", "12.3", "-": three significant digits, no exponent.
std::string three_digits(double value);

}  // namespace trainyard::cli
