#pragma once
// The guide's claims on spot, what is public near each, and what we compute beside it
// (data/guide/spot_*.csv).

#include <optional>
#include <string>
#include <vector>

#include "simulate_study.hpp"

namespace trainyard::cli {

struct GuideFact {
    std::string text, source, as_of, status;
};

struct GuideRun {
    std::string label;
    std::string words;  ///< arguments of trainyard simulate
    SimulateRequest request;
    std::optional<spot::Summary> summary;
    std::string refused;  ///< why there is none
};

struct GuideClaim {
    std::string id;
    int line = 0;
    std::string text;
    std::string conclusion;  ///< which sentence is computed
    std::vector<GuideFact> facts;
    std::vector<GuideRun> runs;
};

/// Plans and plays every run; a run that the simulation refuses keeps the reason.
Result<std::vector<GuideClaim>> play_guide(const std::string& today, std::uint64_t runs,
                                           const StudyHooks& hooks);

/// Sentences with the numbers that speak for or against the claim.
std::vector<std::string> conclusions(const GuideClaim& claim);

std::string guide_text(const std::vector<GuideClaim>& claims);
std::string guide_markdown(const std::vector<GuideClaim>& claims);

}  // namespace trainyard::cli
