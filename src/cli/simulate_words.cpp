#include "simulate_words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "table.hpp"
#include "trainyard/base/text.hpp"

namespace trainyard::cli {

namespace {

using spot::Summary;

/// Cheaper by less than this is the same.
constexpr double kWorthIt = 0.02;
constexpr std::size_t kColumns = 100;

std::string days(double hours) { return format_duration(hours * kHour); }

bool has_deadline(const SimulateRequest& r) { return r.input.run.spec.deadline.has_value(); }
bool has_budget(const SimulateRequest& r) { return r.input.run.spec.budget.has_value(); }

/// "on time in 99.3 %, in budget in 100 %" or what there is of it.
std::string limit_words(const SimulateRequest& r, const Summary& s) {
    std::vector<std::string> parts;
    if (has_deadline(r))
        parts.push_back(fmt::format("on time in {}", share_words(s.meets_deadline)));
    if (has_budget(r)) parts.push_back(fmt::format("in budget in {}", share_words(s.meets_budget)));
    if (s.finished < 0.9995) parts.push_back(fmt::format("{} finish", share_words(s.finished)));
    return fmt::format("{}", fmt::join(parts, ", "));
}

/// The command that was typed, as far as this answer needs it.
std::string again(const SimulateRequest& r, const std::string& more) {
    return fmt::format("trainyard simulate {}{}{}", r.job_word, r.given, more);
}

std::string difference(const Summary& other, const Summary& main) {
    const double saved = main.usd.mean - other.usd.mean;
    const double slower = other.hours.mean - main.hours.mean;
    std::string out = saved >= 0
                          ? fmt::format("saves {} ({}) on average", dollar_words(saved),
                                        share_words(saved / main.usd.mean))
                          : fmt::format("costs {} more ({}) on average", dollar_words(-saved),
                                        share_words(-saved / main.usd.mean));
    if (std::abs(slower) >= 0.01 * main.hours.mean) {
        out += fmt::format(", takes {} {}", days(std::abs(slower)), slower > 0 ? "longer" : "less");
    }
    return out;
}

/// "up ends in 29.9 d (P90 30.0 d) and costs $51,247; on time in 99.9 %".
std::string outcome_words(const SimulateRequest& r, const Summary& s) {
    const std::string kept = limit_words(r, s);
    if (s.finished < 0.5) return fmt::format("{} does not end; {}", s.policy, kept);
    return fmt::format("{} ends in {} (P90 {}) and costs {}{}", s.policy, days(s.hours.p50),
                       days(s.hours.p90), dollar_words(s.usd.mean),
                       kept.empty() ? "" : "; " + kept);
}

/// Cheaper if spot is as assumed, dearer if it is scarce: the user's choice, not ours.
void advise_bet(const SimulateRequest& r, const Study& s, Advice& advice) {
    const Summary& best = s.policies.front();
    const Summary& scarce = s.best_on_traces->summary;
    advice.lines.push_back(
        fmt::format("Keep {} for a certain cost. --policy {} is a bet on spot capacity: it {} if "
                    "capacity is as its interruption band suggests.",
                    s.main.policy, best.policy, difference(best, s.main)));
    advice.lines.push_back(fmt::format("The bet is lost, {} dearer than {}, if {}: {}.",
                                       dollar_words(scarce.usd.mean - s.main.usd.mean),
                                       s.main.policy, s.best_on_traces->text,
                                       outcome_words(r, scarce)));
    advice.lines.emplace_back(
        "AWS publishes no capacity; before you choose, ask for the score of your regions: aws ec2 "
        "get-spot-placement-scores, or replay a trace of your own with --trace.");
}

/// What there is to say about the other policies.
void advise_policy(const SimulateRequest& r, const Study& s, Advice& advice) {
    if (s.policies.size() < 2) return;
    const Summary& best = s.policies.front();
    const std::string kept = limit_words(r, best);
    const std::string suffix = kept.empty() ? "" : "; " + kept;
    if (!is_sure(best)) {
        const auto safest = std::max_element(
            s.policies.begin(), s.policies.end(), [](const Summary& a, const Summary& b) {
                return std::min({a.finished, a.meets_deadline, a.meets_budget}) <
                       std::min({b.finished, b.meets_deadline, b.meets_budget});
            });
        advice.lines.push_back(fmt::format(
            "No policy keeps the limits in nine runs of ten; the safest is {} ({}). Move the "
            "deadline or the budget, or plan more nodes.",
            safest->policy, limit_words(r, *safest)));
        advice.next = again(r, " --policy " + safest->policy + " --runs 100k");
        return;
    }
    const double saved = s.main.usd.mean - best.usd.mean;
    const double noise = 2 * std::hypot(usd_standard_error(best), usd_standard_error(s.main));
    const bool worth = saved > std::max(noise, kWorthIt * s.main.usd.mean);
    if (best.policy == s.main.policy || (is_sure(s.main) && !worth)) {
        advice.lines.push_back(
            fmt::format("Keep {}: no other policy that is as safe is more than {} cheaper.",
                        s.main.policy, share_words(kWorthIt)));
        return;
    }
    advice.next = again(r, " --policy " + best.policy);
    if (s.best_on_traces && s.best_on_traces->summary.usd.mean > s.main.usd.mean &&
        is_sure(s.main)) {
        advise_bet(r, s, advice);
        return;
    }
    advice.lines.push_back(fmt::format("{} --policy {}: it {}{}.",
                                       is_sure(s.main) ? "Cheaper and safe enough:" : "Use",
                                       best.policy, difference(best, s.main), suffix));
    if (!s.best_on_traces) return;
    const Summary& scarce = s.best_on_traces->summary;
    advice.lines.push_back(fmt::format("Spot capacity is assumed, AWS publishes none: {} {}, {}.",
                                       is_sure(scarce) ? "even if" : "but if",
                                       s.best_on_traces->text, outcome_words(r, scarce)));
}

void advise_cadence(const SimulateRequest& r, const Study& s, Advice& advice) {
    const CadenceRow* best = nullptr;
    for (const CadenceRow& row : s.cadences) {
        if (row.summary && (best == nullptr || row.summary->usd.mean < best->summary->usd.mean))
            best = &row;
    }
    if (best == nullptr) return;
    const double saved = s.main.usd.mean - best->summary->usd.mean;
    const double noise =
        2 * std::hypot(usd_standard_error(*best->summary), usd_standard_error(s.main));
    if (saved <= std::max(noise, 0.5 * kWorthIt * s.main.usd.mean)) return;
    advice.lines.push_back(fmt::format("Save checkpoints with --cadence {}: it {}.", best->name,
                                       difference(*best->summary, s.main)));
    if (advice.next.empty()) advice.next = again(r, " --cadence " + best->name);
}

/// What being nearly certain of the deadline costs.
void advise_insurance(const SimulateRequest& r, const Study& s, Advice& advice) {
    constexpr double kNearlyCertain = 0.99;
    const auto safe = [](const Summary& p) {
        return is_sure(p) && p.meets_deadline >= kNearlyCertain;
    };
    if (!has_deadline(r) || !is_sure(s.main) || safe(s.main)) return;
    const Summary* best = nullptr;
    for (const Summary& p : s.policies) {
        if (safe(p) && (best == nullptr || p.usd.mean < best->usd.mean)) best = &p;
    }
    if (best == nullptr) return;
    const double more = best->usd.mean - s.main.usd.mean;
    advice.lines.push_back(
        fmt::format("Surer: --policy {} is on time in {} and costs {} {} ({}) on average.",
                    best->policy, share_words(best->meets_deadline), dollar_words(std::abs(more)),
                    more < 0 ? "less" : "more", share_words(std::abs(more) / s.main.usd.mean)));
}

/// Whether the answer turns on what nobody knows.
void advise_luck(const SimulateRequest& r, const Study& s, Advice& advice) {
    if (certainty_of(s.main) != Certainty::sure) return;
    constexpr double kDearer = 0.10;
    for (const Variant& v : s.what_ifs) {
        if (certainty_of(v.summary) == Certainty::sure) {
            const double more = v.summary.usd.mean - s.main.usd.mean;
            if (more > kDearer * s.main.usd.mean) {
                advice.lines.push_back(fmt::format("Costs {} more ({}) if {}.", dollar_words(more),
                                                   share_words(more / s.main.usd.mean), v.text));
            }
            continue;
        }
        advice.lines.push_back(
            fmt::format("Not safe if {}: {}.", v.text, limit_words(r, v.summary)));
    }
}

}  // namespace

std::string_view to_string(Certainty c) {
    switch (c) {
        case Certainty::sure:
            return "sure";
        case Certainty::risky:
            return "risky";
        case Certainty::no:
            return "no";
    }
    return "";
}

Certainty certainty_of(const Summary& s) {
    if (is_sure(s)) return Certainty::sure;
    const double least = std::min({s.finished, s.meets_deadline, s.meets_budget});
    return least >= 0.5 ? Certainty::risky : Certainty::no;
}

namespace {

/// For a job that most runs do not end: a median time and cost of what was given up say nothing.
std::string unfinished_words(const SimulateRequest& r, const Study& study) {
    const Summary& s = study.main;
    const std::string runs = runs_words(s.runs);
    std::string out = s.finished <= 0
                          ? fmt::format("none of {} runs finishes", runs)
                          : fmt::format("only {} of {} runs finish", share_words(s.finished), runs);
    const spot::RunSpec& spec = r.input.run.spec;
    const bool by_money = spec.budget && s.usd.p90 > 0.9 * (*spec.budget / kUsd);
    if (by_money) {
        out += fmt::format("; the budget of {} stops the others, saved, after {}",
                           dollar_words(*spec.budget / kUsd), days(s.hours.p50));
    } else {
        out += fmt::format(
            "; the others have no capacity or repeat work until they are given up "
            "after {}",
            days(s.hours.p90));
    }
    return out + (study.partial ? " (partial: stopped early)" : "");
}

}  // namespace

std::string verdict_words(const SimulateRequest& r, const Study& study) {
    const Summary& s = study.main;
    const bool limits = has_deadline(r) || has_budget(r);
    const Certainty c = certainty_of(s);
    std::string out = c == Certainty::no ? "No: " : c == Certainty::risky ? "Risky: " : "";
    if (c == Certainty::sure && limits) out = "Yes: ";
    if (s.finished < 0.5) return out + unfinished_words(r, study);
    const std::string kept = limit_words(r, s);
    if (c != Certainty::sure) out += kept + "; ";
    out +=
        fmt::format("done in {} (nine runs in ten within {}) for {} (within {})", days(s.hours.p50),
                    days(s.hours.p90), dollar_words(s.usd.p50), dollar_words(s.usd.p90));
    if (c == Certainty::sure && !kept.empty()) out += "; " + kept;
    out += (kept.empty() ? ", " : " of ") + runs_words(s.runs) + " runs";
    if (study.partial) out += " (partial: stopped early)";
    return out;
}

Advice advice_for(const SimulateRequest& r, const Study& study) {
    Advice advice;
    if (study.main.runs == 0) return advice;
    advise_policy(r, study, advice);
    if (r.input.elsewhere && study.policies.size() > 1) advice.lines.push_back(*r.input.elsewhere);
    advise_insurance(r, study, advice);
    advise_cadence(r, study, advice);
    advise_luck(r, study, advice);
    if (advice.next.empty()) {
        advice.next = r.curve ? again(r, " --runs 100k --rules") : again(r, " --html report.html");
    }
    return advice;
}

std::vector<TimePart> time_parts(const spot::TimeSplit& t) {
    std::vector<TimePart> parts = {
        {"slower", "running with fewer nodes", t.slower},
        {"lost", "work done twice", t.lost},
        {"checkpoint", "standing still for saves", t.checkpoint},
        {"restart", "starting and restarting", t.restart},
        {"reshard", "changing size", t.reshard},
        {"waiting", "waiting for capacity", t.waiting},
    };
    std::stable_sort(parts.begin(), parts.end(),
                     [](const TimePart& a, const TimePart& b) { return a.time > b.time; });
    parts.insert(parts.begin(), {"useful", "useful work", t.useful});
    const Seconds wall = t.wall();
    for (TimePart& p : parts) p.share = wall > Seconds{} ? p.time / wall : 0;
    return parts;
}

std::vector<MoneyPart> money_parts(const spot::MoneySplit& m) {
    return {{"spot", "spot", m.spot},
            {"on_demand", "on demand", m.on_demand},
            {"reserved", "reserved and Capacity Blocks", m.reserved},
            {"transfer", "moving checkpoints", m.transfer},
            {"other", "storage, data, head node (from the plan)", m.other}};
}

std::string_view to_string(spot::Ending e) {
    switch (e) {
        case spot::Ending::finished:
            return "finished";
        case spot::Ending::out_of_budget:
            return "out_of_budget";
        case spot::Ending::gave_up:
            return "gave_up";
    }
    return "";
}

std::string_view to_string(spot::Purchase p) {
    switch (p) {
        case spot::Purchase::spot:
            return "spot";
        case spot::Purchase::on_demand:
            return "on_demand";
        case spot::Purchase::reserved:
            return "reserved";
        case spot::Purchase::capacity_block:
            return "capacity_block";
    }
    return "";
}

std::string_view to_string(spot::RestoreFrom r) {
    switch (r) {
        case spot::RestoreFrom::s3:
            return "s3";
        case spot::RestoreFrom::fsx:
            return "fsx";
        case spot::RestoreFrom::peer_memory:
            return "peer";
    }
    return "";
}

std::string wrapped(const std::string& lead, const std::string& text) {
    const std::string indent(display_width(lead), ' ');
    std::string out;
    std::string line = lead;
    bool fresh = true;
    const auto words = split(text, ' ');
    for (std::size_t i = 0; i < words.size(); ++i) {
        std::string word(words[i]);
        while (i + 1 < words.size() && words[i + 1].starts_with('%'))
            word += " " + std::string(words[++i]);
        if (!fresh && display_width(line) + 1 + display_width(word) > kColumns) {
            out += line + "\n";
            line = indent;
            fresh = true;
        }
        line += (fresh ? "" : " ") + word;
        fresh = false;
    }
    return out + line + "\n";
}

std::string indented(const std::string& table) {
    std::string out;
    for (const std::string_view line : split(table, '\n')) {
        if (!line.empty()) out += "  " + std::string(line) + "\n";
    }
    return out;
}

std::string dollar_words(double usd) {
    if (std::abs(usd) < 99.995 || std::abs(usd) > 1e15) return format_usd(usd * kUsd);
    return (usd < 0 ? "-$" : "$") +
           runs_words(static_cast<std::uint64_t>(std::llround(std::abs(usd))));
}

std::string share_words(double share) {
    if (share > 0 && share < 0.001) return "< 0.1 %";
    if (share < 1 && share > 0.999) return "> 99.9 %";
    const double percent = 100 * share;
    const bool whole = std::abs(percent - std::round(percent)) < 0.05 || percent >= 99.95;
    return fmt::format("{:.{}f} %", percent, whole ? 0 : 1);
}

std::string runs_words(std::uint64_t n) {
    std::string digits = std::to_string(n);
    for (int at = static_cast<int>(digits.size()) - 3; at > 0; at -= 3)
        digits.insert(static_cast<std::size_t>(at), ",");
    return digits;
}

}  // namespace trainyard::cli
