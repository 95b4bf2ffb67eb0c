#pragma once
// The registry of rules. A rule is one file in src/lint/rules/ and one golden case; CMake collects
// the files, so that there is no list to edit. docs/rules/ is printed from here.

#include <string_view>
#include <vector>

#include "trainyard/base/diagnostic.hpp"

namespace trainyard::lint {

struct Case;
class Found;

enum class Certainty {
    offline,  ///< the files alone prove it
    account   ///< the account (subnets, reservations, quotas) can still excuse it
};

struct Rule {
    std::string_view id;  ///< "EFA-COUNT": family, dash, subject
    Severity severity = Severity::error;
    std::string_view title;      ///< one line, no full stop
    std::string_view applies{};  ///< which files, in words
    std::string_view why{};      ///< what it costs or breaks
    std::string_view fix{};
    std::string_view source{};  ///< who says so
    /// "" means every version.
    std::string_view holds_for{};
    Certainty certainty = Certainty::offline;
    void (*find)(const Case&, Found&) = nullptr;

    /// "EFA" of "EFA-COUNT".
    std::string_view family() const { return id.substr(0, id.find('-')); }
};

/// Sorted by id.
const std::vector<Rule>& rules();
const Rule* rule(std::string_view id);

}  // namespace trainyard::lint
