#pragma once
// What the importers share. One file per family of formats, import_<family>.cpp; the list that
// detects them is in import_trace.cpp.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trainyard/base/result.hpp"
#include "trainyard/doc/node.hpp"
#include "trainyard/spot/trace.hpp"

namespace trainyard::spot {

struct ImportInput {
    std::string_view text;
    std::string_view file;
    const ImportOptions& options;
};

/// The one diagnostic of a refused file.
Error refuse(Location where, std::string what, std::string why, std::string fix);
Diagnostic note(const ImportInput& in, std::string what, std::string why);

/// What a path says beside its content.
struct PathFacts {
    std::string pool;  ///< base name without extension; the folder's for "full.json" and "3.json"
    std::string zone;  ///< "us-west-2a" of "us-west-2a_v100_1"; empty if there is none
    std::optional<Observation> observation;  ///< by "availability" or "preemption" in the path
    int nodes = 0;                           ///< of "16-node" in the path; 0: not said
};
PathFacts facts_of_path(std::string_view file);
/// "us-west-2a", "us-central1-b" at the start of a name that ends there or goes on with '_'.
std::string zone_of(std::string_view name);

/// A "gap_seconds".
Result<Seconds> seconds_between(const doc::Node& gap);

/// "2025-10-04T00:10:00.002281+00:00", "2020-03-15T10:07:33.000Z", "2021-12-11 11:11:30" (UTC).
/// Seconds since 1970, with fraction.
std::optional<double> parse_time(std::string_view s);

/// Appends to a piecewise constant series; a value equal to the last is merged.
template <typename T>
void append(std::vector<double>& start, std::vector<T>& values, double at, T value) {
    if (!values.empty() && values.back() == value) return;
    start.push_back(at);
    values.push_back(value);
}

/// Lines of a text, each with its number; cells know their column (in bytes + 1).
struct Cell {
    std::string_view text;  ///< trimmed
    int column = 1;
};
class LineReader {
  public:
    explicit LineReader(std::string_view text) : rest_(text) {}
    /// The next line that is not blank; false at the end.
    bool next();
    std::string_view line() const { return line_; }
    int number() const { return number_; }
    std::vector<Cell> cells() const;
    Location place(std::string_view file, const Cell& cell) const;

  private:
    std::string_view rest_;
    std::string_view line_;
    int number_ = 0;
};

inline constexpr int kMaxNodes = 1'000'000;
/// A whole number of nodes from 0 to kMaxNodes.
std::optional<int> parse_nodes(std::string_view s);
/// The pool has `nodes` from `at` (seconds, not before the last step); moves its end there.
void set_step(PoolTrace& pool, double at, int nodes);
/// Puts a step of no nodes at 0 before a series that begins later.
void begin_at_zero(PoolTrace& pool);

// JSON families: `root` is the parsed text.
Result<TraceSet> import_series(const doc::Node& root, const ImportInput& in);
Result<TraceSet> import_price_lists(const doc::Node& root, const ImportInput& in);
Result<TraceSet> import_aws_prices(const doc::Node& root, const ImportInput& in);
Result<TraceSet> import_gcp_price(const doc::Node& root, const ImportInput& in);
Result<TraceSet> import_sailor(const doc::Node& root, const ImportInput& in);
// Text families.
Result<TraceSet> import_events(const ImportInput& in);
Result<TraceSet> import_parcae(const ImportInput& in);
Result<TraceSet> import_steps(const ImportInput& in);
Result<TraceSet> import_dated(const ImportInput& in);
Result<TraceSet> import_lifecycle(const ImportInput& in);
Result<TraceSet> import_probes(const ImportInput& in);
Result<TraceSet> import_azure_prices(const ImportInput& in);
Result<TraceSet> import_own(const ImportInput& in);

}  // namespace trainyard::spot
