#include "anchors_report.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "table.hpp"
#include "trainyard/base/text.hpp"

namespace trainyard::cli {

namespace {

constexpr std::size_t kColumns = 100;

constexpr const char* kIntroduction[] = {
    "Efficiency = (tokens/s on N devices / N) / (tokens/s on the base / its devices). Base "
    "and N each run the fastest mapping of the set that fits with the planner's memory "
    "headroom: TP and PP of 1, 2, 4, 8 (PP also interleaved), ZeRO 0, 1, 3 and 3 inside the "
    "node, any micro-batch up to 32, recompute none, selective or full; AdamW with fp32 "
    "states, bf16. \"Sharded\" allows data parallelism and ZeRO only.",
    "Batch: \"64 seq\" is 64 sequences a step in all, the same on the base and on N (strong "
    "scaling); \"1 seq/GPU\" grows with N (weak).",
    "Without EFA: plain TCP over one of the instance's network cards (a launch without "
    "extra interfaces), or over all. No pair of runs with and without EFA is public, so the "
    "share of the wire that TCP reaches is an assumption (tcp_fraction, "
    "docs/model/constants.md).",
    "Work: share of the step on N that is not exposed communication, bubble or waiting. "
    "Loss: device time per token beyond the base's. Range: the 80 % step-time band of the "
    "larger cluster alone."};

std::string percent(double fraction) { return fmt::format("{:.0f} %", fraction * 100); }

std::string value_words(Measure m, double value) {
    if (m == Measure::efficiency) return percent(value);
    return value < 9.95 ? fmt::format("{:.1f}x", value) : fmt::format("{:.0f}x", value);
}

std::string status_words(std::string status) {
    std::replace(status.begin(), status.end(), '_', '-');
    return status;
}

std::string mapping_words(const workload::Training& t) {
    const workload::Parallelism& p = t.parallel;
    std::string out;
    if (p.tensor > 1) out += fmt::format("TP{} ", p.tensor);
    if (p.pipeline > 1)
        out += fmt::format("PP{}{} ", p.pipeline,
                           p.virtual_stages > 1 ? fmt::format("x{}", p.virtual_stages) : "");
    if (p.data > 1) out += fmt::format("DP{} ", p.data);
    if (p.zero != workload::Zero::none) out += fmt::format("Z{} ", static_cast<int>(p.zero));
    if (p.shard_group > 0) out += fmt::format("in{} ", p.shard_group);
    out += fmt::format("mb{}", t.micro_batch);
    if (t.recompute == workload::Recompute::selective) out += " sel";
    if (t.recompute == workload::Recompute::full) out += " full";
    return out;
}

std::string loss_words(const ScenarioResult& r, Measure m) {
    if (!r.known() || m == Measure::ratio || r.losses.empty()) return "-";
    const Loss& top = r.losses.front();
    return top.share < 0.005 ? "none" : fmt::format("{} {}", top.term, percent(top.share));
}

/// Cells of a scenario, one per title.
std::vector<std::string> cells(const ScenarioResult& r, Measure m) {
    const Scenario& s = *r.scenario;
    const std::string base = r.base               ? std::to_string(r.base->cluster.accelerators)
                             : s.base_devices > 0 ? std::to_string(s.base_devices)
                                                  : "?";
    const std::string devices = fmt::format("{}>{}", base, s.devices);
    if (!r.known()) return {s.name, devices, "-", "-", "does not fit", "-"};
    return {s.name,
            devices,
            value_words(m, r.value(m)),
            percent(r.working()),
            mapping_words(r.side->training),
            loss_words(r, m)};
}
constexpr const char* kTitles[] = {"Scenario", "From>to", "Result",
                                   "Work",     "Mapping", "Largest loss"};

Table table_of(const AnchorResult& r) {
    Table table({{kTitles[0]},
                 {kTitles[1], Align::right},
                 {kTitles[2], Align::right},
                 {kTitles[3], Align::right},
                 {kTitles[4]},
                 {kTitles[5]}});
    for (const ScenarioResult& s : r.scenarios) table.add(cells(s, r.anchor->measure));
    return table;
}

std::string range_words(const ScenarioResult& r, Measure m) {
    return fmt::format("{} (80 % range {} to {})", value_words(m, r.value(m)),
                       value_words(m, r.in_measure(m, r.low)),
                       value_words(m, r.in_measure(m, r.high)));
}

/// Breaks `text` at blanks (never before "%") into lines of at most kColumns; the first begins with
/// `lead`, the others are indented.
std::string wrapped(const std::string& lead, const std::string& text) {
    const std::string indent(display_width(lead), ' ');
    std::vector<std::string> words;
    for (const std::string_view word : split(text, ' ')) {
        if (!words.empty() && word.starts_with('%')) {
            words.back() += " " + std::string(word);
        } else {
            words.emplace_back(word);
        }
    }
    std::string out;
    std::string line = lead;
    bool fresh = true;
    for (const std::string& word : words) {
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

std::string fact_words(const Fact& f) {
    if (f.source.empty()) return f.text + ".";
    return fmt::format("{} ({}, {}; {}).", f.text, f.source, f.as_of, status_words(f.status));
}

std::string answer_words(const AnchorResult& r) {
    const ScenarioResult& s = r.answer();
    if (!s.known()) return "no mapping of the set fits in memory";
    return fmt::format("{}: {}; assumed {}, sequence {} (modelled)",
                       range_words(s, r.anchor->measure), s.scenario->name, r.anchor->assumed,
                       r.anchor->sequence);
}

}  // namespace

std::string anchors_text(const std::vector<AnchorResult>& all, const Io& io) {
    std::string out =
        io.paint(Tone::bold, "The guide's scaling claims beside our own computation") + "\n";
    for (const char* text : kIntroduction) out += wrapped("  ", text);
    for (const AnchorResult& r : all) {
        const Anchor& a = *r.anchor;
        out +=
            "\n" + io.paint(Tone::bold, fmt::format("guide:{}  {}", a.guide_line, a.claim)) + "\n";
        out += wrapped("  Claim   ", value_words(a.measure, a.claimed()) + " (guide-claim)");
        out += wrapped("  Ours    ", answer_words(r));
        for (const Fact& f : a.facts) out += wrapped("  Public  ", fact_words(f));
        for (const std::string& line : explanation(r)) out += wrapped("  Why     ", line);
        const std::string table = table_of(r).text();
        for (const std::string_view line : split(table, '\n')) {
            if (!line.empty()) out += "  " + std::string(line) + "\n";
        }
    }
    for (const std::string& line : contradictions(all)) out += "\n" + wrapped("", line);
    return out;
}

std::string anchors_markdown(const std::vector<AnchorResult>& all) {
    std::string out =
        "<!-- Written by `trainyard anchors --markdown`; `./check --bless` rewrites it. -->\n"
        "# The guide's scaling claims, computed\n\n"
        "A practitioner's guide to AWS training clusters states how well five jobs scaled. Here is "
        "what the performance "
        "model computes for each, with the nearest public measurement. Nothing is tuned to match; "
        "a difference is "
        "explained. Claims, scenarios and facts: `data/guide/`.\n\n";
    for (const char* text : kIntroduction) out += std::string(text) + "\n\n";
    out +=
        "Mapping: TP, PP (x chunks), DP, Z = ZeRO stage (in n: sharded over n devices), mb = "
        "micro-batch, sel and "
        "full = recompute.\n";
    for (const AnchorResult& r : all) {
        const Anchor& a = *r.anchor;
        out += fmt::format("\n## guide:{}: {}\n\n", a.guide_line, a.claim);
        out += fmt::format("- Claim: {} (guide-claim)\n", value_words(a.measure, a.claimed()));
        out += fmt::format("- Ours: {}\n", answer_words(r));
        for (const Fact& f : a.facts) out += "- Public: " + fact_words(f) + "\n";
        for (const std::string& line : explanation(r)) out += "- " + line + "\n";
        out += "\n|";
        for (const char* title : kTitles) out += fmt::format(" {} |", title);
        out += "\n|---|---|---|---|---|---|\n";
        for (const ScenarioResult& s : r.scenarios) {
            out += "|";
            for (const std::string& cell : cells(s, a.measure)) out += fmt::format(" {} |", cell);
            out += "\n";
        }
    }
    out += "\n## Between the claims\n\n";
    for (const std::string& line : contradictions(all)) out += line + "\n";
    out +=
        "\n## JSON\n\n"
        "`trainyard anchors --json` prints schema `trainyard.anchors`, version 1: `anchors[]` with "
        "`id`, `guide_line`, `claim`, `measure` (efficiency, speedup or ratio), `claimed` and "
        "`computed` in that measure, `explanation[]`, `facts[]` (text, source, as_of, status) and "
        "`scenarios[]`. A scenario has its `value`, `low`, `high`, `efficiency`, `speedup`, "
        "`work_share`, the `losses` by term, and the `base` and the `cluster` with mapping, step "
        "time, MFU and memory. `contradictions[]` are claims that do not go together.\n";
    return out;
}

}  // namespace trainyard::cli
