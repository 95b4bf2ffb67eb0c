// The validation report, for people and for machines.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <numeric>

#include "trainyard/base/text.hpp"
#include "trainyard/validate/score.hpp"

namespace trainyard::validate {

namespace {

using Rows = std::vector<const Scored*>;

Rows scored_with(const std::vector<Scored>& all, const std::function<bool(const Scored&)>& keep) {
    Rows rows;
    for (const Scored& s : all) {
        if (s.error && keep(s)) rows.push_back(&s);
    }
    return rows;
}

bool is_tuned(const Scored& s) { return s.run->tier == "1" && s.run->stack == "tuned"; }
bool is_stock(const Scored& s) { return s.run->tier == "1" && s.run->stack == "stock"; }
/// The one dense sweep of mappings that outnumbers everything else.
bool is_sweep(const Scored& s) { return s.run->group == "vtrain-single"; }

struct Subset {
    std::string name;
    Rows rows;
};

std::vector<Subset> headline(const std::vector<Scored>& all) {
    return {{"tier 1 tuned", scored_with(all, is_tuned)},
            {"tier 1 tuned, without the sweep",
             scored_with(all, [](const Scored& s) { return is_tuned(s) && !is_sweep(s); })},
            {"tier 1 stock", scored_with(all, is_stock)},
            {"all rows", scored_with(all, [](const Scored&) { return true; })}};
}

std::vector<Subset> split_by(const Rows& rows,
                             const std::function<std::string(const Scored&)>& key) {
    std::map<std::string, Rows> parts;
    for (const Scored* s : rows) parts[key(*s)].push_back(s);
    std::vector<Subset> subsets;
    for (auto& [name, members] : parts) subsets.push_back({name, std::move(members)});
    std::sort(subsets.begin(), subsets.end(),
              [](const Subset& a, const Subset& b) { return a.rows.size() > b.rows.size(); });
    return subsets;
}

std::string error_table(const std::string& title, const std::vector<Subset>& subsets) {
    std::string out = fmt::format("{:<46} {:>5} {:>8} {:>8} {:>8} {:>9}\n", title, "n", "median",
                                  "p90", "bias", "in band");
    for (const Subset& s : subsets) {
        const ErrorSummary e = summarise(s.rows);
        if (e.n == 0) {
            out += fmt::format("{:<46} {:>5} {:>8} {:>8} {:>8} {:>9}\n", s.name, 0, "-", "-", "-",
                               "-");
            continue;
        }
        out += fmt::format("{:<46} {:>5} {:>6.1f} % {:>6.1f} % {:>+6.1f} % {:>7.0f} %\n",
                           s.name.substr(0, 46), e.n, 100 * e.median, 100 * e.p90, 100 * e.bias,
                           100 * e.covered);
    }
    return out + "\n";
}

struct MemoryScore {
    ErrorSummary error;
    int fits_but_ran_out = 0, ran_but_does_not_fit = 0, ran_out = 0, ran = 0, offloaded = 0;
};

MemoryScore memory_score(const std::vector<Scored>& all) {
    MemoryScore m;
    std::vector<double> absolute, bias;
    for (const Scored& s : all) {
        if (!s.predicted_memory) continue;
        if (s.memory_error) {
            absolute.push_back(std::abs(*s.memory_error));
            bias.push_back(*s.memory_error);
        }
        if (s.run->recompute_unknown) continue;
        if (s.run->ran_out_of_memory) {
            ++m.ran_out;
            if (s.fits) ++m.fits_but_ran_out;
        } else if (s.run->step) {
            ++m.ran;
            if (!s.fits) ++m.ran_but_does_not_fit;
            if (s.offloaded) ++m.offloaded;
        }
    }
    const auto at = [](std::vector<double>& v, double q) {
        if (v.empty()) return 0.0;
        std::sort(v.begin(), v.end());
        return v[static_cast<std::size_t>(q * static_cast<double>(v.size() - 1))];
    };
    m.error.n = static_cast<int>(absolute.size());
    m.error.median = at(absolute, 0.5);
    m.error.p90 = at(absolute, 0.9);
    m.error.bias = at(bias, 0.5);
    return m;
}

std::string memory_table(const std::vector<Scored>& all) {
    const MemoryScore m = memory_score(all);
    return fmt::format(
        "Memory: {} rows with a measured peak: median error {:.1f} %, p90 {:.1f} %, bias {:+.1f} "
        "%\n"
        "  said \"fits\" for {} of {} runs that ran out; said \"does not fit\" for {} of {} runs "
        "that ran\n"
        "  {} of those that ran fit only if the layer inputs that full recomputation keeps are in "
        "host memory\n\n",
        m.error.n, 100 * m.error.median, 100 * m.error.p90, 100 * m.error.bias, m.fits_but_ran_out,
        m.ran_out, m.ran_but_does_not_fit, m.ran, m.offloaded);
}

std::string ranking_table(const Rows& rows) {
    const Ranking r = rank_groups(rows);
    return fmt::format(
        "Order of alternatives: {} groups, {} pairs that differ by more than 3 %: {:.1f} % in the "
        "right order\n"
        "  our choice against the measured best: {:.1f} % slower on average, {:.1f} % at worst\n\n",
        r.groups, r.pairs,
        r.pairs > 0 ? 100.0 * static_cast<double>(r.ordered) / static_cast<double>(r.pairs) : 0,
        100 * r.mean_regret, 100 * r.worst_regret);
}

/// Where the cost of our choices comes from.
std::string choice_table(const Rows& rows) {
    std::string out = fmt::format("{:<46} {:>5} {:>6} {:>8} {:>8} {:>8}\n", "Choices by source",
                                  "jobs", "pairs", "ordered", "mean", "worst");
    for (const Subset& s : split_by(rows, [](const Scored& r) { return r.run->source; })) {
        const Ranking r = rank_groups(s.rows);
        if (r.pairs == 0) continue;
        const double ordered = static_cast<double>(r.ordered) / static_cast<double>(r.pairs);
        out += fmt::format("{:<46} {:>5} {:>6} {:>6.1f} % {:>6.1f} % {:>6.1f} %\n",
                           s.name.substr(0, 46), r.groups, r.pairs, 100 * ordered,
                           100 * r.mean_regret, 100 * r.worst_regret);
    }
    return out + "\n";
}

/// Rows that no model of these columns can tell apart: one framework release, machine, batch and,
/// to the last bit, one prediction.
std::string repeats_table(const Rows& rows) {
    const auto sets = split_by(rows, [](const Scored& s) {
        const Observation& o = *s.run;
        return fmt::format("{}|{}|{}|{}|{:a}", o.framework, o.accelerator, o.cluster.accelerators,
                           o.training.global_batch, *s.predicted_step / kSecond);
    });
    std::vector<double> spreads;
    std::size_t repeated = 0;
    for (const Subset& set : sets) {
        if (set.rows.size() < 2) continue;
        const auto [least, most] = std::minmax_element(
            set.rows.begin(), set.rows.end(),
            [](const Scored* a, const Scored* b) { return *a->run->step < *b->run->step; });
        spreads.push_back(*(*most)->run->step / *(*least)->run->step - 1);
        repeated += set.rows.size();
    }
    if (spreads.empty()) return "";
    std::sort(spreads.begin(), spreads.end());
    const auto at = [&spreads](double q) {
        return 100 * spreads[static_cast<std::size_t>(q * static_cast<double>(spreads.size() - 1))];
    };
    return fmt::format(
        "Repeats: {} rows are {} configurations that the columns do not tell apart; slowest "
        "against "
        "fastest:\n  {:.1f} % at the median, {:.1f} % at p90, {:.1f} % at worst. Half of a spread "
        "is left to any model\n\n",
        repeated, spreads.size(), at(0.5), at(0.9), at(1));
}

/// The term that the model leans on most, as a lead for why a row is off.
std::string dominant_term(const Scored& s) {
    const perf::StepBreakdown& b = s.prediction.step;
    const std::pair<Seconds, const char*> terms[] = {{b.tensor_comm, "tensor communication"},
                                                     {b.expert_comm, "expert all-to-all"},
                                                     {b.data_comm, "data-parallel communication"},
                                                     {b.pipeline_bubble, "pipeline bubble"},
                                                     {b.pipeline_comm, "pipeline sends"},
                                                     {b.launch, "host launch floor"},
                                                     {b.memory_bound, "memory-bound kernels"},
                                                     {b.attention, "attention kernels"},
                                                     {b.optimizer, "optimizer"}};
    const auto* best =
        std::max_element(std::begin(terms), std::end(terms),
                         [](const auto& x, const auto& y) { return x.first < y.first; });
    return best->second;
}

std::string likely_reason(const Scored& s) {
    std::string reason = fmt::format("after GEMMs, {} lead", dominant_term(s));
    if (s.run->recompute_unknown) reason += "; recompute not stated";
    if (!s.run->assumptions.empty() && s.run->assumptions.back().rfind("network", 0) == 0)
        reason += "; network assumed";
    if (s.run->ran_out_of_memory) reason += "; the run failed";
    return reason;
}

std::string worst_table(Rows rows, std::size_t count) {
    std::sort(rows.begin(), rows.end(), [](const Scored* a, const Scored* b) {
        return std::abs(std::log1p(*a->error)) > std::abs(std::log1p(*b->error));
    });
    rows.resize(std::min(rows.size(), count));
    std::string out = "Worst rows\n";
    for (const Scored* s : rows) {
        out += fmt::format("  {:<20} {:<26} measured {:>9} predicted {:>9} {:>+7.1f} %  {}\n",
                           s->run->id, s->run->model_name.substr(0, 26),
                           format_duration(*s->run->step), format_duration(*s->predicted_step),
                           100 * *s->error, likely_reason(*s));
    }
    return out + "\n";
}

std::string skipped_table(const std::vector<Scored>& all) {
    std::map<std::string, int> reasons;
    int total = 0;
    for (const Scored& s : all) {
        if (s.skipped.empty()) continue;
        ++reasons[s.skipped];
        ++total;
    }
    std::string out = fmt::format("Not predicted: {} of {} rows\n", total, all.size());
    for (const auto& [why, n] : reasons) out += fmt::format("  {:>5}  {}\n", n, why);
    return out;
}

doc::Node summary_json(const ErrorSummary& e) {
    doc::Node n = doc::Node::map();
    n.set("n", e.n);
    if (e.n == 0) return n;  // unknown is absent, not 0
    n.set("median_absolute_error", e.median).set("p90_absolute_error", e.p90);
    n.set("bias", e.bias).set("share_in_80_percent_band", e.covered);
    return n;
}

doc::Node row_json(const Scored& s) {
    doc::Node n = doc::Node::map();
    n.set("id", s.run->id);
    if (!s.skipped.empty()) {
        n.set("skipped", s.skipped);
        return n;
    }
    n.set("quantity", to_string(s.run->quantity));
    if (s.run->step) n.set("measured", *s.run->step / kSecond);
    n.set("predicted", *s.predicted_step / kSecond);
    if (s.error) n.set("error", *s.error);
    doc::Node memory = doc::Node::map();
    memory.set("measured_bytes",
               s.run->memory ? doc::Node::number(*s.run->memory / kByte) : doc::Node());
    memory.set("predicted_bytes", *s.predicted_memory / kByte);
    memory.set("fits", s.fits).set("offloaded", s.offloaded);
    n.set("memory", std::move(memory));
    return n;
}

}  // namespace

std::string render_text(const std::vector<Scored>& all) {
    const Rows tuned = scored_with(all, is_tuned);
    std::string out = error_table("Step-time error", headline(all));
    const ErrorSummary grouped = summarise_by_group(tuned);
    out += fmt::format(
        "Each GROUP counted once, tier 1 tuned: {} groups, median {:.1f} %, p90 {:.1f} %, bias "
        "{:+.1f} %\n\n",
        grouped.n, 100 * grouped.median, 100 * grouped.p90, 100 * grouped.bias);
    out += error_table("Tier 1 tuned by accelerator",
                       split_by(tuned, [](const Scored& s) { return s.run->accelerator; }));
    out += error_table("Tier 1 tuned by source",
                       split_by(tuned, [](const Scored& s) { return s.run->source; }));
    out += error_table("Tier 1 tuned by parallelism",
                       split_by(tuned, [](const Scored& s) { return s.run->mapping; }));
    out += memory_table(all);
    out += ranking_table(tuned);
    out += choice_table(tuned);
    out += repeats_table(tuned);
    out += worst_table(tuned, 10);
    return out + skipped_table(all);
}

std::string render_markdown(const std::vector<Scored>& all) {
    return "# Predictions against measured runs\n\n"
           "Written by `trainyard validate RUNS.csv --markdown` on a collection of published "
           "training runs; a test compares\n"
           "this page with what the binary prints. Error = predicted / measured - 1 on step time. "
           "\"In band\" = share of rows\n"
           "inside the 80 % range that `plan` and `predict` print (docs/model/ranges.md). The "
           "constants were fitted on the\n"
           "tier 1 tuned rows by `tools/fit_constants.py`; how well that carries over to groups it "
           "has not seen:\n"
           "`tools/fit_constants.py RUNS.csv --holdout` (docs/model/constants.md).\n\n```\n" +
           render_text(all) + "```\n";
}

doc::Node render_json(const std::vector<Scored>& all) {
    doc::Node root = doc::Node::map();
    root.set("schema", "trainyard.validation").set("schema_version", 1);
    doc::Node summary = doc::Node::map();
    for (const Subset& s : headline(all)) summary.set(s.name, summary_json(summarise(s.rows)));
    const Rows tuned = scored_with(all, is_tuned);
    summary.set("tier 1 tuned, each group once", summary_json(summarise_by_group(tuned)));
    const MemoryScore m = memory_score(all);
    doc::Node memory = summary_json(m.error);
    memory.set("fits_but_ran_out", m.fits_but_ran_out)
        .set("ran_but_does_not_fit", m.ran_but_does_not_fit)
        .set("fits_with_offloaded_layer_inputs", m.offloaded);
    summary.set("memory", std::move(memory));
    const Ranking r = rank_groups(tuned);
    doc::Node ranking = doc::Node::map();
    ranking.set("groups", r.groups).set("pairs", static_cast<std::int64_t>(r.pairs));
    ranking.set("ordered", static_cast<std::int64_t>(r.ordered));
    ranking.set("mean_regret", r.mean_regret).set("worst_regret", r.worst_regret);
    summary.set("ranking", std::move(ranking));
    root.set("summary", std::move(summary));
    doc::Node rows = doc::Node::list();
    for (const Scored& s : all) rows.append(row_json(s));
    root.set("rows", std::move(rows));
    return root;
}

}  // namespace trainyard::validate
