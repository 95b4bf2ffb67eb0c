#include "simulate_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "simulate_chart.hpp"
#include "simulate_words.hpp"
#include "table.hpp"
#include "trainyard/base/text.hpp"

namespace trainyard::cli {

namespace {

using spot::Summary;

constexpr std::size_t kBar = 30;
constexpr int kRows = 12;
/// A distribution with more than this share in one row is not drawn.
constexpr double kOneValue = 0.9;

std::string days(double hours) { return format_duration(hours * kHour); }
std::string dollars(Usd amount) { return dollar_words(amount / kUsd); }

/// "99.3 % (95 %: 98.9 % to 99.5 %)": the second is what another seed could have given.
std::string kept_words(double share, std::uint64_t runs) {
    const ShareRange range = share_range(share, runs);
    if (range.high - range.low < 0.002) return share_words(share);
    return fmt::format("{} ({} to {})", share_words(share), share_words(range.low),
                       share_words(range.high));
}

std::string quantile_table(const SimulateRequest& r, const Summary& s) {
    const spot::RunSpec& spec = r.input.run.spec;
    Table table({{""},
                 {"P10", Align::right},
                 {"P50", Align::right},
                 {"P90", Align::right},
                 {"mean", Align::right},
                 {"plan", Align::right},
                 {"limit", Align::right},
                 {"kept in"}});
    table.add({"time", days(s.hours.p10), days(s.hours.p50), days(s.hours.p90), days(s.hours.mean),
               r.input.planned > Seconds{} ? format_duration(r.input.planned) : "-",
               spec.deadline ? format_duration(*spec.deadline) : "-",
               spec.deadline ? kept_words(s.meets_deadline, s.runs) : ""});
    table.add({"cost", dollar_words(s.usd.p10), dollar_words(s.usd.p50), dollar_words(s.usd.p90),
               dollar_words(s.usd.mean),
               r.input.planned_cost > Usd{} ? dollars(r.input.planned_cost) : "-",
               spec.budget ? dollars(*spec.budget) : "-",
               spec.budget ? kept_words(s.meets_budget, s.runs) : ""});
    return indented(table.text());
}

/// Name, value, share and bar.
std::string part_line(const std::string& name, const std::string& value, double share) {
    const std::string gap(name.size() < 42 ? 42 - name.size() : 1, ' ');
    std::string line = fmt::format("  {}{}{:>10} {:>8}  {}", name, gap, value, share_words(share),
                                   bar(share, kBar));
    line.erase(line.find_last_not_of(' ') + 1);
    return line + "\n";
}

std::string breakdown(const Summary& s, const Io& io) {
    std::string out = "\n" +
                      io.paint(Tone::bold, fmt::format("Where the time went: goodput {}",
                                                       share_words(goodput_of(s)))) +
                      "\n";
    for (const TimePart& p : time_parts(s.mean_time)) {
        if (p.time <= Seconds{}) continue;
        out += part_line(p.name, format_duration(p.time), p.share);
    }
    std::string stops = fmt::format("{:.1f} interruptions per run", s.mean_interruptions);
    if (s.mean_failures > 0.005)
        stops += fmt::format(", {:.2g} of them hardware failures", s.mean_failures);
    stops += s.interval >= s.mean_time.useful
                 ? "; saved once, at the end"
                 : "; saved every " + format_duration(s.interval) + " and at the end";
    stops += fmt::format("; {} of the node-hours on demand", share_words(s.on_demand_share));
    out += wrapped("  ", stops);
    const Usd total = s.mean_money.total();
    if (total <= Usd{}) return out;
    out += "\n" + io.paint(Tone::bold, "Where the money went") + "\n";
    for (const MoneyPart& p : money_parts(s.mean_money)) {
        if (p.amount > Usd{}) out += part_line(p.name, dollars(p.amount), p.amount / total);
    }
    if (s.mean_money.forgiven > Usd{}) {
        out += fmt::format("  not billed: {} of interrupted first hours\n",
                           dollars(s.mean_money.forgiven));
    }
    return out;
}

struct Unit {
    double size = 1;  ///< in the histogram's own unit
    std::string before, after;
};
/// The largest unit that the median has two of.
Unit time_unit(double hours) {
    if (hours >= 48) return {24, "", " d"};
    if (hours >= 2) return {1, "", " h"};
    return {1.0 / 60, "", " min"};
}

std::string histogram(const std::string& title, std::vector<spot::HistogramBin> fine,
                      const Unit& unit, const Io& io) {
    for (spot::HistogramBin& b : fine) {
        b.from /= unit.size;
        b.to /= unit.size;
    }
    const auto bins = coarse_bins(fine, kRows);
    if (bins.size() < 2) return {};
    double most = 0;
    double total = 0;
    for (const spot::HistogramBin& b : bins) {
        most = std::max(most, static_cast<double>(b.count));
        total += static_cast<double>(b.count);
    }
    if (most > kOneValue * total) return {};  // the quantiles say it all
    const double step = bins[0].to - bins[0].from;
    const int decimals = std::clamp(static_cast<int>(std::ceil(-std::log10(step))), 0, 6);
    const auto words = [&](double value) {
        return unit.before + format_fixed(value, decimals) + unit.after;
    };
    std::string out = "\n" + io.paint(Tone::bold, title) + "\n";
    for (const spot::HistogramBin& b : bins) {
        const double count = static_cast<double>(b.count);
        const std::string to = std::isfinite(b.to) ? "to " + words(b.to) : "and more";
        std::string line = fmt::format("  {:>10} {:<13} {:>8}  {}", words(b.from), to,
                                       share_words(count / total), bar(count / most, kBar));
        line.erase(line.find_last_not_of(' ') + 1);
        out += line + "\n";
    }
    return out;
}

std::string policy_table(const SimulateRequest& r, const Study& study, const Io& io) {
    if (study.policies.size() < 2) return {};
    std::string out = "\n" + io.paint(Tone::bold, "Other policies") +
                      " (same luck; the best first, > is the verdict's)\n";
    Table table({{"  policy"},
                 {"time P50", Align::right},
                 {"P90", Align::right},
                 {"cost P50", Align::right},
                 {"P90", Align::right},
                 {"on time", Align::right},
                 {"in budget", Align::right},
                 {"goodput", Align::right},
                 {"on demand", Align::right},
                 {"stops", Align::right}});
    const spot::RunSpec& spec = r.input.run.spec;
    for (const Summary& s : study.policies) {
        const bool main = s.policy == study.main.policy;
        const auto ends = [&](double share, double hours) {
            return s.finished < share ? std::string("unfinished") : days(hours);
        };
        table.add({(main ? "> " : "  ") + s.policy, ends(0.5, s.hours.p50), ends(0.9, s.hours.p90),
                   dollar_words(s.usd.p50), dollar_words(s.usd.p90),
                   spec.deadline ? share_words(s.meets_deadline) : "-",
                   spec.budget ? share_words(s.meets_budget) : "-", share_words(goodput_of(s)),
                   share_words(s.on_demand_share), fmt::format("{:.1f}", s.mean_interruptions)});
    }
    out += table.text();
    if (study.policies_left_out > 0)
        out += fmt::format("  {} more are dearer: --policy LIST shows them\n",
                           study.policies_left_out);
    if (study.bound) {
        out += wrapped("  ", fmt::format("Whoever knew every drop in advance would pay {} at "
                                         "least (mean of {} runs).",
                                         dollar_words(study.bound->usd.mean), study.bound->runs));
    }
    if (!study.policies_same.empty()) {
        std::vector<std::string> same;
        for (const auto& [name, as] : study.policies_same)
            same.push_back(fmt::format("{} = {}", name, as));
        out += wrapped("  ", fmt::format("The same here: {}", fmt::join(same, ", ")));
    }
    if (r.offered.pools.size() > spec.pools.size() || study.main.mean_money.reserved > Usd{})
        out +=
            "  Only the plan's own policy and reserved book and pay its Capacity Block or "
            "commitment.\n";
    for (const std::string& words : study.policies_refused) out += wrapped("  ", words);
    return out;
}

std::string cadence_table(const SimulateRequest& r, const Study& study, const Io& io) {
    if (study.cadences.empty()) return {};
    const std::string own = cadence_of(r.input.run.spec.checkpoints).name;
    std::string out = "\n" + io.paint(Tone::bold, "How often to save") + "\n";
    Table table({{"  cadence"},
                 {"every", Align::right},
                 {"time P50", Align::right},
                 {"mean cost", Align::right},
                 {"done twice", Align::right},
                 {"saving", Align::right},
                 {"goodput", Align::right}});
    std::string refused;
    for (const CadenceRow& row : study.cadences) {
        if (!row.summary) {
            refused += wrapped("  ", fmt::format("{}: {}", row.name, row.refused));
            continue;
        }
        const Summary& s = *row.summary;
        const Seconds wall = s.mean_time.wall();
        table.add({(row.name == own ? "> " : "  ") + row.name, format_duration(s.interval),
                   days(s.hours.p50), dollar_words(s.usd.mean),
                   share_words(s.mean_time.lost / wall), share_words(s.mean_time.checkpoint / wall),
                   share_words(goodput_of(s))});
    }
    return out + table.text() + refused;
}

/// What the change did to the mean cost, if it is more than chance.
std::string effect(const Summary& changed, const Summary& main) {
    const double dollars_more = changed.usd.mean - main.usd.mean;
    const double noise = 2 * std::hypot(usd_standard_error(changed), usd_standard_error(main));
    if (std::abs(dollars_more) <= std::max(noise, 0.5))
        return fmt::format("0 ± {}", dollar_words(std::max(noise, 0.5)));
    return (dollars_more > 0 ? "+" : "") + dollar_words(dollars_more);
}

std::string time_effect(const Summary& changed, const Summary& main) {
    const double more = changed.hours.mean - main.hours.mean;
    if (std::abs(more) < 1e-4 * main.hours.mean) return "0";
    return (more > 0 ? "+" : "-") + days(std::abs(more));
}

std::string variant_table(const std::string& title, const SimulateRequest& r,
                          const std::vector<Variant>& variants, const Summary& main, const Io& io) {
    if (variants.empty()) return {};
    Table table({{"  if"},
                 {"mean cost", Align::right},
                 {"mean time", Align::right},
                 {"on time", Align::right},
                 {"in budget", Align::right}});
    const spot::RunSpec& spec = r.input.run.spec;
    for (const Variant& v : variants) {
        table.add({"  " + (v.text.size() > 48 ? v.text.substr(0, v.text.find(" (")) : v.text),
                   effect(v.summary, main), time_effect(v.summary, main),
                   spec.deadline ? share_words(v.summary.meets_deadline) : "-",
                   spec.budget ? share_words(v.summary.meets_budget) : "-"});
    }
    return "\n" + io.paint(Tone::bold, title) + "\n" + table.text();
}

std::string assumption_lines(const SimulateRequest& r, const Io& io) {
    std::string out = "\n" + io.paint(Tone::bold, "Rests on") + "\n";
    for (const Assumption& a : assumptions_of(r)) {
        std::string where = a.status;
        std::replace(where.begin(), where.end(), '_', '-');
        if (!a.as_of.empty()) where.insert(0, a.as_of + ", ");
        if (!a.source.empty()) where.insert(0, a.source + ", ");
        out += wrapped("  - ", fmt::format("{} ({})", a.text, where));
    }
    return out;
}

Tone tone_of(Certainty c) {
    return c == Certainty::sure ? Tone::good : c == Certainty::risky ? Tone::warn : Tone::bad;
}

}  // namespace

std::string simulate_text(const SimulateRequest& r, const Study& study, const Io& io) {
    const spot::RunSpec& spec = r.input.run.spec;
    const Summary& s = study.main;
    std::string verdict = wrapped("", verdict_words(r, study));
    verdict.pop_back();
    std::string out = io.paint(tone_of(certainty_of(s)), verdict) + "\n";
    out += wrapped("", fmt::format("{}: {}; policy {}, checkpoints {}", spec.name, r.input.job,
                                   s.policy, cadence_of(spec.checkpoints).name));
    const Advice advice = advice_for(r, study);
    if (!advice.lines.empty()) {
        out += "\n" + io.paint(Tone::bold, "What to do") + "\n";
        int number = 0;
        for (const std::string& line : advice.lines)
            out += wrapped(fmt::format("  {}. ", ++number), line);
    }
    out += "\n" + quantile_table(r, s);
    out += breakdown(s, io);
    out += histogram("Time", s.hours_histogram, time_unit(s.hours.p50), io);
    out += histogram("Cost", s.usd_histogram, {1, "$", ""}, io);
    out += policy_table(r, study, io);
    out += cadence_table(r, study, io);
    out += variant_table("What each AWS rule is worth (one switched off at a time)", r, study.rules,
                         s, io);
    out += variant_table("What if", r, study.what_ifs, s, io);
    out += assumption_lines(r, io);
    out += fmt::format("\n{} runs, seed {}, unseed {:016x}{}\n", runs_words(s.runs), r.seed,
                       s.unseed, study.partial ? ", partial" : "");
    return out + "\n" + io.paint(Tone::bold, "Next") + "  " + advice.next + "\n";
}

}  // namespace trainyard::cli
