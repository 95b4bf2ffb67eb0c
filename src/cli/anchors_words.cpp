// The sentences about an anchor, each derived from its numbers.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "anchors_report.hpp"
#include "trainyard/base/text.hpp"

namespace trainyard::cli {

namespace {

/// A claim counts as reached within this factor.
constexpr double kSame = 1.10;

std::string percent(double fraction) { return fmt::format("{:.0f} %", fraction * 100); }
std::string times(double ratio) {
    return ratio < 9.95 ? fmt::format("{:.1f}x", ratio) : fmt::format("{:.0f}x", ratio);
}
std::string in_words(Measure m, double value) {
    return m == Measure::efficiency ? percent(value) : times(value);
}

std::string difference(const Anchor& a, const ScenarioResult& answer) {
    const double ours = answer.value(a.measure);
    const std::string both = fmt::format("the model computes {} for \"{}\", the guide claims {}",
                                         in_words(a.measure, ours), answer.scenario->name,
                                         in_words(a.measure, a.claimed()));
    if (std::max(ours / a.claimed(), a.claimed() / ours) <= kSame)
        return "Within 10 %: " + both + ".";
    return fmt::format("Different: {}.", both);
}

/// Where the time per token goes on N beyond what it is on the base.
std::string dominating(const ScenarioResult& s) {
    std::string lost;
    std::string gained;
    for (const Loss& l : s.losses) {
        if (l.share >= 0.005)
            lost += fmt::format("{}{} {}", lost.empty() ? "" : ", ", l.term, percent(l.share));
        if (l.share <= -0.005)
            gained += fmt::format("{}{} {}", gained.empty() ? "" : ", ", l.term, percent(-l.share));
    }
    std::string out = "Nothing is lost beyond half a percent";
    if (!lost.empty()) out = "Lost, of the base's time per token: " + lost;
    if (!gained.empty()) out += "; gained, by room for a better mapping: " + gained;
    return out +
           fmt::format(". Against the same devices with a free network: {}.", percent(s.working()));
}

std::string named(const ScenarioResult& s, Measure m) {
    return fmt::format("\"{}\" ({})", s.scenario->name, in_words(m, s.value(m)));
}

/// Which circumstances would give the claim.
std::string nearest_words(const AnchorResult& r) {
    const ScenarioResult* near = r.nearest();
    if (near == nullptr) return "No scenario fits in memory.";
    const Measure m = r.anchor->measure;
    const double claimed = r.anchor->claimed();
    const double factor = std::max(near->value(m) / claimed, claimed / near->value(m));
    const std::string claim = in_words(m, claimed);
    if (factor <= kSame)
        return fmt::format("{} is what we compute for {}, within 10 %.", claim, named(*near, m));
    const ScenarioResult* above = r.nearest_above();
    const ScenarioResult* below = r.nearest_below();
    if (above != nullptr && below != nullptr) {
        return fmt::format("{} lies between {} and {}.", claim, named(*below, m), named(*above, m));
    }
    return fmt::format("No scenario here gives {}; the nearest is {}.", claim, named(*near, m));
}

std::string arithmetic(const AnchorResult& r) {
    const Anchor& a = *r.anchor;
    const ScenarioResult& s = r.answer();
    if (!a.claimed_efficiency || !a.claimed_speedup || !s.known()) return "";
    const double nodes = s.side->cluster.nodes();
    const double follows = *a.claimed_efficiency * nodes;
    const double implied = *a.claimed_speedup / nodes;
    if (implied > 1) {
        return fmt::format(
            "Arithmetic: {} over one node is impossible on {:.0f} nodes ({}); {} of {:.0f} is "
            "{:.2f}x.",
            times(*a.claimed_speedup), nodes, percent(implied), percent(*a.claimed_efficiency),
            nodes, follows);
    }
    return fmt::format("Arithmetic: {} of {:.0f} nodes is {:.2f}x: consistent with the claimed {}.",
                       percent(*a.claimed_efficiency), nodes, follows, times(*a.claimed_speedup));
}

/// What a claimed duration means: tokens at our rate, and whether the slower cluster could hold the
/// job.
std::vector<std::string> duration_words(const AnchorResult& r) {
    std::vector<std::string> out;
    const Anchor& a = *r.anchor;
    if (!a.claimed_hours) return out;
    const ScenarioResult& s = r.answer();
    if (s.side) {
        const double tokens =
            s.side->prediction.tokens_per_second * (*a.claimed_hours * kHour) / kToken;
        out.push_back(
            fmt::format("{:.1f} h at our rate are {} tokens: a fine-tune, not a pre-training.",
                        *a.claimed_hours, format_count(tokens)));
    }
    for (const ScenarioResult& other : r.scenarios) {
        if (!other.base) {
            out.push_back(
                fmt::format("The job does not fit on {} devices of {} in any mapping of the set.",
                            other.scenario->base_devices, other.scenario->base_instance));
        }
    }
    return out;
}

}  // namespace

std::vector<std::string> explanation(const AnchorResult& r) {
    std::vector<std::string> out;
    const ScenarioResult& s = r.answer();
    if (s.known()) {
        out.push_back(difference(*r.anchor, s));
        if (r.anchor->measure != Measure::ratio) out.push_back(dominating(s));
    } else {
        out.push_back("No mapping of the set fits in memory with headroom.");
    }
    out.push_back(nearest_words(r));
    const std::string sums = arithmetic(r);
    if (!sums.empty()) out.push_back(sums);
    for (std::string& line : duration_words(r)) out.push_back(std::move(line));
    return out;
}

std::vector<std::string> contradictions(const std::vector<AnchorResult>& all) {
    std::vector<std::string> out;
    const auto comparable = [](const AnchorResult& r) {
        return r.anchor->measure == Measure::efficiency && r.answer().known() &&
               r.answer().scenario->wire == Wire::efa;
    };
    for (const AnchorResult& small : all) {
        for (const AnchorResult& large : all) {
            if (!comparable(small) || !comparable(large) ||
                small.anchor->model != large.anchor->model)
                continue;
            const Scenario& x = *small.answer().scenario;
            const Scenario& y = *large.answer().scenario;
            if (x.instance != y.instance || x.devices >= y.devices) continue;
            if (small.anchor->claimed() >= large.anchor->claimed()) continue;
            out.push_back(fmt::format(
                "The guide claims {} on {} devices (line {}) but {} on {} (line {}); efficiency "
                "normally falls with "
                "size. The model computes {} and {}.",
                percent(small.anchor->claimed()), x.devices, small.anchor->guide_line,
                percent(large.anchor->claimed()), y.devices, large.anchor->guide_line,
                percent(small.answer().efficiency), percent(large.answer().efficiency)));
        }
    }
    return out;
}

}  // namespace trainyard::cli
