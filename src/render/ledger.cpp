#include "ledger.hpp"

#include <algorithm>

#include "embedded.hpp"
#include "trainyard/base/contract.hpp"
#include "trainyard/base/text.hpp"
#include "trainyard/doc/csv.hpp"

namespace trainyard::render {

namespace {

/// Our own table: broken means a broken build, and a test reads it.
const doc::CsvTable& table(const std::string& name) {
    static const auto read = [](const std::string& file) {
        auto parsed = doc::parse_csv(embedded_files().at(file), "data/render/" + file);
        TRAINYARD_ASSERT(parsed.has_value(), "our own tables parse");
        return *std::move(parsed);
    };
    static const std::map<std::string, doc::CsvTable> all = {{"versions.csv", read("versions.csv")},
                                                             {"env.csv", read("env.csv")}};
    return all.at(name);
}

std::string cell(const doc::CsvTable& t, std::size_t row, std::string_view column) {
    return std::string(t.cell(row, column));
}

std::vector<Version> read_versions() {
    const doc::CsvTable& t = table("versions.csv");
    std::vector<Version> all;
    for (std::size_t i = 0; i < t.size(); ++i) {
        const auto status = catalog::parse_status(t.cell(i, "status"));
        TRAINYARD_ASSERT(status.has_value(), "versions.csv: the status is known");
        all.push_back({cell(t, i, "key"),
                       cell(t, i, "value"),
                       cell(t, i, "note"),
                       {cell(t, i, "source"), cell(t, i, "as_of"), *status}});
    }
    return all;
}

bool lists(std::string_view families, const std::string& family) {
    if (families == "*") return true;
    const auto all = split(families, '|');
    return std::find(all.begin(), all.end(), family) != all.end();
}

bool holds(std::string_view when, const Recipe& r) {
    if (when == "efa") return r.uses_efa();
    if (when == "node") return r.ranks_per_node() > 1;
    if (when == "tensor") {
        const workload::Parallelism& p = r.training.parallel;
        const bool fsdp = p.zero == workload::Zero::gradients || p.zero == workload::Zero::weights;
        return (p.tensor > 1 || p.context > 1) && !fsdp;
    }
    TRAINYARD_ASSERT(when == "any", "env.csv: when is efa, node, tensor or any");
    return true;
}

}  // namespace

const std::vector<Version>& versions() {
    static const std::vector<Version> all = read_versions();
    return all;
}

const Version& version(std::string_view key) {
    const auto at = std::find_if(versions().begin(), versions().end(),
                                 [key](const Version& v) { return v.key == key; });
    TRAINYARD_ASSERT(at != versions().end(), "versions.csv has the key");
    return *at;
}

std::vector<EnvVariable> environment(const Recipe& recipe, Framework framework) {
    const doc::CsvTable& t = table("env.csv");
    std::vector<EnvVariable> out;
    for (std::size_t i = 0; i < t.size(); ++i) {
        const std::string_view who = t.cell(i, "framework");
        const bool applies = lists(t.cell(i, "families"), recipe.instance.family) &&
                             holds(t.cell(i, "when"), recipe) &&
                             (who == "any" || who == to_string(framework));
        if (!applies) continue;
        out.push_back({cell(t, i, "variable"), cell(t, i, "value"), cell(t, i, "needs"),
                       cell(t, i, "why"), cell(t, i, "source"), cell(t, i, "as_of")});
    }
    return out;
}

}  // namespace trainyard::render
