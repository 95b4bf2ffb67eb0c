#pragma once
// The guide's scaling claims, what is computed beside each, and public facts near it:
// data/guide/*.csv as values. The columns are explained in the files.

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trainyard/base/result.hpp"

namespace trainyard::cli {

/// What a claim counts, and so what is printed for it.
/// efficiency: rate per device on N / rate per device on the base; speedup: rate on N / rate on the
/// base; ratio: the same between two kinds of cluster.
enum class Measure { efficiency, speedup, ratio };
/// strong: the same global batch on the base and on N; weak: the same number of sequences per
/// device.
enum class Scaling { strong, weak };
/// efa: what the instance has; tcp_all and tcp_one: plain TCP over all its network cards, or over
/// one.
enum class Wire { efa, tcp_all, tcp_one };
/// Which mappings may be chosen: all of the stated set, or data parallelism and sharding only.
enum class MappingSet { best, sharded };

std::string_view to_string(Scaling s);
std::string_view to_string(Wire w);
std::string_view to_string(MappingSet m);

struct Scenario {
    std::string name;
    Scaling scaling = Scaling::strong;
    int sequences = 0;  ///< per step: in all (strong) or per device (weak)
    std::string base_instance;
    int base_devices = 0;  ///< 0: the fewest that hold the job
    std::string instance;
    int devices = 0;
    Wire wire = Wire::efa;
    std::string stack;
    MappingSet mappings = MappingSet::best;
};

/// A public number near the claim. An empty source says that there is none.
struct Fact {
    std::string text, source, as_of, status;
};

struct Anchor {
    std::string id;
    int guide_line = 0;
    std::string claim;
    Measure measure = Measure::efficiency;
    std::optional<double> claimed_efficiency, claimed_speedup, claimed_hours;
    std::string model;
    int sequence = 0;  ///< tokens
    std::string assumed;
    std::vector<Scenario> scenarios;  ///< the first is the answer, the others explain
    std::vector<Fact> facts;

    /// In the unit of `measure`.
    double claimed() const;
};

/// anchors.csv, scenarios.csv and facts.csv by name. Unknown words, numbers that do not parse and
/// rows of an unknown anchor are diagnostics with file and line.
Result<std::vector<Anchor>> parse_anchors(const std::map<std::string, std::string>& files);
/// The tables compiled into the binary.
const std::vector<Anchor>& guide_anchors();

}  // namespace trainyard::cli
