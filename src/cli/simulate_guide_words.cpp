// What the runs say about each claim on spot, and how it is printed.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "simulate_guide.hpp"
#include "simulate_words.hpp"
#include "table.hpp"
#include "trainyard/base/contract.hpp"
#include "trainyard/base/text.hpp"
#include "trainyard/spot/fit.hpp"

namespace trainyard::cli {

namespace {

using spot::Summary;

/// A claimed share counts as met within this many points.
constexpr double kNear = 0.05;
constexpr double kClaimedSaving = 0.55;
constexpr double kSpotShare = 0.70;
constexpr double kClaimedAvailability = 0.05;
constexpr double kClaimedHourly = 0.30;
constexpr double kMonthHours = 30 * 24;

std::string days(double hours) { return format_duration(hours * kHour); }

const spot::Pool* pool_of(const GuideRun& run, spot::Purchase purchase) {
    for (const spot::Pool& p : run.request.input.run.spec.pools) {
        if (p.purchase == purchase) return &p;
    }
    return nullptr;
}

double saving(const Summary& s, const Summary& base) { return 1 - s.usd.mean / base.usd.mean; }

/// "saves 47 % and takes 1.2 d longer (mean)".
std::string against(const Summary& s, const Summary& base) {
    const double saved = saving(s, base);
    const double longer = s.hours.mean - base.hours.mean;
    return fmt::format("{} {} and takes {} {} (means)", saved >= 0 ? "saves" : "costs",
                       share_words(std::abs(saved)) + (saved >= 0 ? "" : " more"),
                       days(std::abs(longer)), longer >= 0 ? "longer" : "less");
}

std::vector<const GuideRun*> played_after_first(const GuideClaim& c) {
    std::vector<const GuideRun*> out;
    for (std::size_t i = 1; i < c.runs.size(); ++i) {
        if (c.runs[i].summary) out.push_back(&c.runs[i]);
    }
    return out;
}

std::vector<std::string> about_saving(const GuideClaim& c) {
    std::vector<std::string> out;
    const Summary& base = *c.runs.front().summary;
    const spot::Pool* cheap = pool_of(c.runs.front(), spot::Purchase::spot);
    const spot::Pool* firm = pool_of(c.runs.front(), spot::Purchase::on_demand);
    if (cheap != nullptr && firm != nullptr) {
        const double discount = 1 - cheap->price / firm->price;
        out.push_back(fmt::format(
            "Arithmetic: spot is {} cheaper than on demand here ({} against {} per node and hour), "
            "and {} of that is {}. A saving of {} at {} on spot needs a discount of {}.",
            share_words(discount), format_usd(cheap->price * kHour),
            format_usd(firm->price * kHour), share_words(kSpotShare),
            share_words(kSpotShare * discount), share_words(kClaimedSaving),
            share_words(kSpotShare), share_words(kClaimedSaving / kSpotShare)));
    }
    for (const GuideRun* run : played_after_first(c))
        out.push_back(fmt::format("Played, {}: {}.", run->label, against(*run->summary, base)));
    if (c.runs.size() < 2 || !c.runs[1].summary) return out;
    const double played = saving(*c.runs[1].summary, base);
    const double off = played - kClaimedSaving;
    out.push_back(std::abs(off) <= kNear
                      ? fmt::format("Reproduced: {} against the claimed {}.", share_words(played),
                                    share_words(kClaimedSaving))
                      : fmt::format("Not reproduced: {} against the claimed {}.",
                                    share_words(played), share_words(kClaimedSaving)));
    return out;
}

struct Range {
    double low = 1e300, high = -1e300;
    void add(double v) {
        low = std::min(low, v);
        high = std::max(high, v);
    }
    std::string words() const {
        return fmt::format("{} to {}", share_words(low), share_words(high));
    }
};

/// P(lost within an hour) at an age.
double lost_within_hour(const spot::Weibull& up, Seconds age) {
    return 1 - up.survival(age + 1.0 * kHour) / up.survival(age);
}

/// What the published traces of the family say about single nodes; nothing if there are none.
std::vector<std::string> from_traces(const std::string& family) {
    Range fresh;
    Range old;
    Range worst_hour;
    int zones = 0;
    for (const spot::PoolProcess& p : spot::embedded_processes()) {
        if (!p.name.starts_with(family) || p.gang > 1) continue;
        ++zones;
        fresh.add(lost_within_hour(p.up, Seconds{}));
        old.add(lost_within_hour(p.up, 1.0 * kDay));
        const double peak = *std::max_element(p.hour_factor.begin(), p.hour_factor.end());
        if (peak > 1) worst_hour.add(peak);
    }
    if (zones == 0) return {};
    std::vector<std::string> out;
    out.push_back(fmt::format(
        "Fitted to {} published traces of single {}* nodes: lost within the first hour with a "
        "probability of {}, within an hour at the age of a day {}; {} within an hour {}.",
        zones, family, fresh.words(), old.words(), share_words(kClaimedHourly),
        kClaimedHourly < old.low || kClaimedHourly > fresh.high ? "fits none of them"
                                                                : "lies between"));
    if (worst_hour.high > 1) {
        out.push_back(
            fmt::format("In the worst hour of the day losses come {:.1f} to {:.1f} times "
                        "as often as on average, where a day pattern was found.",
                        worst_hour.low, worst_hour.high));
    }
    return out;
}

std::vector<std::string> about_rate(const GuideClaim& c) {
    std::vector<std::string> out;
    for (const GuideRun& run : c.runs) {
        const spot::Pool* cheap = pool_of(run, spot::Purchase::spot);
        if (!run.summary) continue;
        const Summary& s = *run.summary;
        if (s.on_demand_share > 0.5 || cheap == nullptr || !cheap->process) continue;
        const spot::Weibull& up = cheap->process->up;
        const auto lost = [&up](Seconds age) { return lost_within_hour(up, age); };
        out.push_back(fmt::format(
            "{}: the {} is stopped {:.2f} times in 30 days, {:.2f} of them by hardware. Capacity "
            "in this band is lost within "
            "its first hour with a probability of {}, within an hour at the age of a day {}, "
            "within 30 days {}.",
            run.label, run.request.input.run.spec.nodes == 1 ? "node" : "job",
            s.mean_interruptions / s.hours.mean * kMonthHours,
            s.mean_failures / s.hours.mean * kMonthHours, share_words(lost(Seconds{})),
            share_words(lost(1.0 * kDay)), share_words(1 - up.survival(30.0 * kDay))));
    }
    const spot::Pool* pool = pool_of(c.runs.front(), spot::Purchase::spot);
    if (pool != nullptr) {
        for (std::string& line : from_traces(pool->name.substr(0, pool->name.find('.') + 1)))
            out.push_back(std::move(line));
    }
    out.emplace_back(
        "The claim names no unit: AWS publishes shares of instances per month, launch probes count "
        "per hour of capacity. The two differ by two orders of magnitude.");
    return out;
}

std::vector<std::string> about_cadence(const GuideClaim& c) {
    std::vector<std::string> out;
    for (const GuideRun& run : c.runs) {
        if (!run.summary) {
            out.push_back(fmt::format("{}: refused: {}.", run.label, run.refused));
            continue;
        }
        const Summary& s = *run.summary;
        const Seconds wall = s.mean_time.wall();
        out.push_back(fmt::format(
            "{}: a save every {}; saves take {} of the time, {} is done "
            "twice; {} on average.",
            run.label, format_duration(s.interval), share_words(s.mean_time.checkpoint / wall),
            share_words(s.mean_time.lost / wall), dollar_words(s.usd.mean)));
    }
    out.emplace_back(
        "Five minutes is no rule: the interval follows from the length of a save and "
        "the time between stops.");
    return out;
}

std::vector<std::string> about_availability(const GuideClaim& c) {
    std::vector<std::string> out;
    const Summary& base = *c.runs.front().summary;
    for (const GuideRun* run : played_after_first(c)) {
        const Summary& s = *run->summary;
        out.push_back(fmt::format("Played, {}: {}; {} of the time is spent waiting for capacity.",
                                  run->label, against(s, base),
                                  share_words(s.mean_time.waiting / s.mean_time.wall())));
    }
    const Seconds work = c.runs.front().request.input.run.spec.work;
    out.push_back(
        fmt::format("Were capacity there {} of the time, the {} of work would take {} "
                    "and more.",
                    share_words(kClaimedAvailability), format_duration(work),
                    format_duration(work / kClaimedAvailability)));
    out.emplace_back(
        "The interruption bands and prices of AWS do not show such a scarcity; how "
        "often a gang can be started is not published.");
    return out;
}

std::vector<std::string> about_resize(const GuideClaim& c) {
    std::vector<std::string> out;
    const Summary& base = *c.runs.front().summary;
    for (const GuideRun* run : played_after_first(c)) {
        const Summary& s = *run->summary;
        out.push_back(fmt::format("{}: {}; goodput {} against {}.", run->label, against(s, base),
                                  share_words(goodput_of(s)), share_words(goodput_of(base))));
    }
    return out;
}

std::vector<std::string> cells(const GuideRun& run, const Summary* base) {
    if (!run.summary) return {run.label, "-", "-", "-", "-", "-", "refused"};
    const Summary& s = *run.summary;
    const std::string saved = base == nullptr || base == &s ? "-" : share_words(saving(s, *base));
    return {run.label,
            days(s.hours.p50),
            days(s.hours.p90),
            dollar_words(s.usd.mean),
            saved,
            share_words(goodput_of(s)),
            fmt::format("{:.1f}", s.mean_interruptions)};
}

constexpr const char* kTitles[] = {"run",    "time P50", "P90",  "mean cost",
                                   "saving", "goodput",  "stops"};

std::string fact_words(const GuideFact& f) {
    std::string status = f.status;
    std::replace(status.begin(), status.end(), '_', '-');
    return fmt::format("{} ({}, {}; {}).", f.text, f.source, f.as_of, status);
}

const Summary* base_of(const GuideClaim& c) {
    return c.runs.empty() || !c.runs.front().summary ? nullptr : &*c.runs.front().summary;
}

}  // namespace

std::vector<std::string> conclusions(const GuideClaim& c) {
    if (base_of(c) == nullptr) return {"stopped before this claim was played"};
    if (c.conclusion == "saving") return about_saving(c);
    if (c.conclusion == "rate") return about_rate(c);
    if (c.conclusion == "cadence") return about_cadence(c);
    if (c.conclusion == "availability") return about_availability(c);
    TRAINYARD_ASSERT(c.conclusion == "resize", "spot_claims.csv names a known conclusion");
    return about_resize(c);
}

std::string guide_text(const std::vector<GuideClaim>& claims) {
    std::string out = "The guide's claims on spot beside what is public and what we compute\n";
    for (const GuideClaim& c : claims) {
        out += fmt::format("\nguide:{}  {}\n", c.line, c.text);
        for (const GuideFact& f : c.facts) out += wrapped("  Public  ", fact_words(f));
        for (const std::string& line : conclusions(c)) out += wrapped("  Ours    ", line);
        Table table({{kTitles[0]},
                     {kTitles[1], Align::right},
                     {kTitles[2], Align::right},
                     {kTitles[3], Align::right},
                     {kTitles[4], Align::right},
                     {kTitles[5], Align::right},
                     {kTitles[6], Align::right}});
        for (const GuideRun& run : c.runs) table.add(cells(run, base_of(c)));
        out += indented(table.text());
    }
    return out;
}

std::string guide_markdown(const std::vector<GuideClaim>& claims) {
    std::string out =
        "<!-- Written by `trainyard simulate --guide --markdown`; `./check --bless` rewrites it. "
        "-->\n"
        "# The guide's claims on spot, played\n\n"
        "What a practitioner's guide to AWS training clusters says about spot instances, what is "
        "public near it, and what `trainyard simulate` computes. Nothing is tuned to match. "
        "Claims, facts and runs: `data/guide/spot_*.csv`; scaling claims: "
        "[guide-anchors.md](guide-anchors.md). Prices and interruption bands are those of the "
        "catalog, capacity is the assumed process of the band (docs/reference/simulate.md): the "
        "probability that a gang can be started at all is not published.\n";
    for (const GuideClaim& c : claims) {
        out += fmt::format("\n## guide:{}: {}\n\n", c.line, c.text);
        for (const GuideFact& f : c.facts) out += "- Public: " + fact_words(f) + "\n";
        for (const std::string& line : conclusions(c)) out += "- Ours: " + line + "\n";
        out += "\n|";
        for (const char* title : kTitles) out += fmt::format(" {} |", title);
        out += "\n|---|--:|--:|--:|--:|--:|--:|\n";
        for (const GuideRun& run : c.runs) {
            out += "|";
            for (const std::string& cell : cells(run, base_of(c)))
                out += fmt::format(" {} |", cell);
            out += "\n";
        }
        out += "\n```\n";
        for (const GuideRun& run : c.runs) out += "trainyard simulate " + run.words + "\n";
        out += "```\n";
    }
    return out;
}

}  // namespace trainyard::cli
