#include "simulate_guide.hpp"

#include <map>

#include "trainyard/base/contract.hpp"
#include "trainyard/base/text.hpp"
#include "trainyard/doc/csv.hpp"

namespace trainyard::cli {

const std::map<std::string, std::string>& guide_files();
Command simulate_command();

namespace {

doc::CsvTable table_of(const std::string& file) {
    auto table = doc::parse_csv(guide_files().at(file), file);
    TRAINYARD_ASSERT(table.has_value(), "the embedded tables are well formed");
    return std::move(*table);
}

std::string text(const doc::CsvTable& t, std::size_t row, std::string_view column) {
    return std::string(t.cell(row, column));
}

std::vector<GuideClaim> read_claims() {
    std::vector<GuideClaim> claims;
    const doc::CsvTable table = table_of("spot_claims.csv");
    for (std::size_t i = 0; i < table.size(); ++i) {
        GuideClaim c;
        c.id = text(table, i, "id");
        c.line = static_cast<int>(parse_number(table.cell(i, "guide_line")).value_or(0));
        c.text = text(table, i, "claim");
        c.conclusion = text(table, i, "conclusion");
        claims.push_back(std::move(c));
    }
    const auto claim_of = [&](const std::string& id) -> GuideClaim& {
        for (GuideClaim& c : claims) {
            if (c.id == id) return c;
        }
        TRAINYARD_ASSERT(false, "facts and runs name a claim of spot_claims.csv");
        return claims.front();
    };
    const doc::CsvTable facts = table_of("spot_facts.csv");
    for (std::size_t i = 0; i < facts.size(); ++i) {
        claim_of(text(facts, i, "claim"))
            .facts.push_back({text(facts, i, "fact"), text(facts, i, "source"),
                              text(facts, i, "as_of"), text(facts, i, "status")});
    }
    const doc::CsvTable runs = table_of("spot_runs.csv");
    for (std::size_t i = 0; i < runs.size(); ++i) {
        GuideRun run;
        run.label = text(runs, i, "label");
        run.words = text(runs, i, "words");
        claim_of(text(runs, i, "claim")).runs.push_back(std::move(run));
    }
    return claims;
}

Result<SimulateRequest> request_of(const std::string& words, const std::string& today) {
    std::vector<std::string> list;
    for (const std::string_view word : split(words, ' ')) list.emplace_back(word);
    auto args = parse(simulate_command(), list);
    if (!args) return args.error();
    return simulate_request(*args, today);
}

}  // namespace

Result<std::vector<GuideClaim>> play_guide(const std::string& today, std::uint64_t runs,
                                           const StudyHooks& hooks) {
    std::vector<GuideClaim> claims = read_claims();
    double total = 0;
    double done = 0;
    for (const GuideClaim& c : claims) total += static_cast<double>(c.runs.size());
    for (GuideClaim& claim : claims) {
        for (GuideRun& run : claim.runs) {
            auto request = request_of(run.words, today);
            if (!request) {
                run.refused = first_words(request.error());
                done += 1;
                continue;
            }
            run.request = std::move(*request);
            spot::SimulateOptions options;
            options.runs = runs;
            options.seed = run.request.seed;
            options.stop = hooks.stop;
            if (hooks.progress)
                options.progress = [&](double share) { hooks.progress((done + share) / total); };
            auto summary =
                spot::simulate(run.request.input.run.spec, run.request.policies.front(), options);
            done += 1;
            if (summary) {
                run.summary = std::move(*summary);
            } else {
                run.refused = first_words(summary.error());
            }
            if (hooks.stop != nullptr && hooks.stop->load()) return claims;
        }
    }
    return claims;
}

}  // namespace trainyard::cli
