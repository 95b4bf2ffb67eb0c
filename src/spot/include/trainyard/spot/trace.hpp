#pragma once
// What was seen of spot capacity: one series per pool, in one convention whatever the file said.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trainyard/base/result.hpp"
#include "trainyard/base/units.hpp"

namespace trainyard::spot {

/// What a number in a file of zeros and ones means. Files of the Can't-Be-Late simulators write 1
/// for "preempted", the traces they come from 1 for "available".
enum class Convention { available, preempted };

/// How the series was taken. A probe says that a launch would have succeeded; kept alive says that
/// a running node survived.
enum class Observation { probe, kept_alive, events };

/// Capacity of one pool over time, piecewise constant from start[i] to start[i+1] (the last until
/// `end`). Times count from the first sample. Equal neighbours are merged, so the size is the
/// number of changes, not of samples.
struct PoolTrace {
    std::string pool;            ///< "us-west-2a_v100_1"
    std::string zone;            ///< "us-west-2a"; empty if the file does not say
    std::string file;            ///< where it came from
    int capacity = 1;            ///< nodes asked for; values are 0..capacity
    Seconds tick;                ///< sampling interval; 0 for event files
    Seconds end;                 ///< length
    std::int64_t first_utc = 0;  ///< Unix time of the first sample; 0 if unknown
    Observation observation = Observation::probe;
    std::vector<double> start;        ///< seconds, strictly increasing, first 0
    std::vector<int> nodes;           ///< available from start[i]
    std::vector<double> price_start;  ///< seconds; empty if the file has no prices
    std::vector<double> price;        ///< US dollars per hour and node
};

struct TraceSet {
    std::vector<PoolTrace> pools;
    std::string format;             ///< name of the importer
    std::vector<Diagnostic> notes;  ///< what was detected or assumed: convention, gaps
};

struct ImportOptions {
    std::optional<Convention> convention;  ///< the user's word; else the importer's rule
};

/// Reads one file in any known format; detects the format by content and says so in `notes`.
/// Refuses: empty, unordered or duplicated times, negative prices or counts, unknown columns; the
/// diagnostic names the line.
Result<TraceSet> import_trace(std::string_view text, std::string_view file,
                              const ImportOptions& options);

}  // namespace trainyard::spot
