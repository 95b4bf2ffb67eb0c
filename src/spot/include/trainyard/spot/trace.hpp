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

/// Spot prices that came without a series of capacity.
struct PriceSeries {
    std::string name;            ///< the pool's name where the file has one, else type and zone
    std::string zone;            ///< empty if the file does not say
    std::string file;            ///< where it came from
    Seconds end;                 ///< length
    std::int64_t first_utc = 0;  ///< Unix time of the first price; 0 if unknown
    std::vector<double> start;   ///< seconds, strictly increasing, first 0
    std::vector<double> price;   ///< US dollars per hour and node
};

struct TraceSet {
    std::vector<PoolTrace> pools;     ///< each has at least one sample
    std::vector<PriceSeries> prices;  ///< of files that hold prices alone
    std::string format;               ///< name of the importer
    std::vector<Diagnostic> notes;    ///< what was detected or assumed: convention, gaps
};

struct ImportOptions {
    std::optional<Convention> convention = {};  ///< the user's word; else the importer's rule
    std::optional<Seconds> tick = {};           ///< between samples, for files that do not say
    std::optional<Seconds> time_unit = {};  ///< of times without a unit; else the importer's rule
    std::optional<std::int64_t> first_utc = {};  ///< Unix time of the first sample, where unknown
};

/// Traces are small; a larger file is refused before it is read.
inline constexpr std::size_t kMaxTraceBytes = std::size_t{64} << 20U;

/// Below this a sample is no sample of spot capacity, and a replay would be millions of changes.
inline constexpr Seconds kShortestTick = 1 * kSecond;

/// Reads one file in any known format (docs/reference/traces.md); detects the format by content and
/// says so in `notes`. `file` is also read for what the content does not say: the pool's name, and
/// whether samples are probes ("availability" in the path) or kept alive ("preemption").
/// Refuses: empty, unordered or duplicated times, negative prices or counts, unknown columns, ticks
/// under kShortestTick or as many changes in the mean, over kMaxTraceBytes; one diagnostic, with
/// line and column.
Result<TraceSet> import_trace(std::string_view text, std::string_view file,
                              const ImportOptions& options);

/// Adds what a price series says to the pool of the same name (and length, within a tick).
void attach_prices(TraceSet& traces);

/// Our own CSV format, which import_trace reads back exactly.
std::string write_trace_csv(const TraceSet& traces);

}  // namespace trainyard::spot
