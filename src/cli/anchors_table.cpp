#include "anchors_table.hpp"

#include <algorithm>
#include <utility>

#include "trainyard/base/contract.hpp"
#include "trainyard/base/text.hpp"
#include "trainyard/doc/csv.hpp"

namespace trainyard::cli {

/// data/guide/*.csv; generated at build time.
const std::map<std::string, std::string>& guide_files();

namespace {

template <typename E>
struct Word {
    std::string_view text;
    E value;
};
constexpr Word<Measure> kMeasures[] = {
    {"efficiency", Measure::efficiency}, {"speedup", Measure::speedup}, {"ratio", Measure::ratio}};
constexpr Word<Scaling> kScalings[] = {{"strong", Scaling::strong}, {"weak", Scaling::weak}};
constexpr Word<Wire> kWires[] = {
    {"efa", Wire::efa}, {"tcp-all", Wire::tcp_all}, {"tcp-one", Wire::tcp_one}};
constexpr Word<MappingSet> kMappingSets[] = {{"best", MappingSet::best},
                                             {"sharded", MappingSet::sharded}};

template <typename E, std::size_t N>
std::string_view text_of(const Word<E> (&words)[N], E value) {
    for (const Word<E>& w : words) {
        if (w.value == value) return w.text;
    }
    return "";
}

class Row {
  public:
    Row(const doc::CsvTable& table, std::size_t row, std::vector<Diagnostic>& problems)
        : table_(table), row_(row), problems_(problems) {}

    std::string text(std::string_view column) const {
        return std::string(table_.cell(row_, column));
    }

    std::optional<double> positive(std::string_view column) {
        if (text(column).empty()) return std::nullopt;
        const auto v = parse_number(text(column));
        if (!v || *v <= 0) complain(column, "a positive number");
        return v;
    }
    int whole(std::string_view column) {
        const auto v = positive(column);
        if (!v || *v > 1e9 || *v != static_cast<int>(*v)) {
            complain(column, "a whole number");
            return 1;
        }
        return static_cast<int>(*v);
    }
    template <typename E, std::size_t N>
    E word(std::string_view column, const Word<E> (&words)[N]) {
        for (const Word<E>& w : words) {
            if (w.text == text(column)) return w.value;
        }
        complain(column, words[0].text);
        return words[0].value;
    }
    void complain(std::string_view column, std::string_view expected) {
        problems_.push_back({Severity::error, table_.place(row_, column),
                             std::string(column) + ": \"" + text(column) + "\" is not valid", "",
                             "write " + std::string(expected)});
    }

  private:
    const doc::CsvTable& table_;
    std::size_t row_;
    std::vector<Diagnostic>& problems_;
};

Anchor read_anchor(Row r) {
    Anchor a;
    a.id = r.text("id");
    a.guide_line = r.whole("guide_line");
    a.claim = r.text("claim");
    a.measure = r.word("measure", kMeasures);
    a.claimed_efficiency = r.positive("claimed_efficiency");
    a.claimed_speedup = r.positive("claimed_speedup");
    a.claimed_hours = r.positive("claimed_hours");
    a.model = r.text("model");
    a.sequence = r.whole("sequence");
    a.assumed = r.text("assumed");
    const bool counted = a.measure == Measure::efficiency ? a.claimed_efficiency.has_value()
                                                          : a.claimed_speedup.has_value();
    if (!counted) r.complain("measure", "a measure whose claimed value is given");
    return a;
}

Scenario read_scenario(Row r) {
    Scenario s;
    s.name = r.text("name");
    s.scaling = r.word("scaling", kScalings);
    s.sequences = r.whole("sequences");
    s.base_instance = r.text("base_instance");
    s.base_devices = r.text("base_devices") == "fit" ? 0 : r.whole("base_devices");
    s.instance = r.text("instance");
    s.devices = r.whole("devices");
    s.wire = r.word("wire", kWires);
    s.stack = r.text("stack");
    s.mappings = r.word("mappings", kMappingSets);
    return s;
}

/// Calls `take(anchor, row)` for every row of a table that belongs to an anchor.
template <typename Take>
void attach(const doc::CsvTable& table, std::vector<Anchor>& anchors,
            std::vector<Diagnostic>& problems, Take take) {
    for (std::size_t i = 0; i < table.size(); ++i) {
        Row row(table, i, problems);
        const std::string id = row.text("anchor");
        const auto it = std::find_if(anchors.begin(), anchors.end(),
                                     [&](const Anchor& a) { return a.id == id; });
        if (it == anchors.end()) {
            row.complain("anchor", "an id of anchors.csv");
        } else {
            take(*it, row);
        }
    }
}

}  // namespace

std::string_view to_string(Scaling s) { return text_of(kScalings, s); }
std::string_view to_string(Wire w) { return text_of(kWires, w); }
std::string_view to_string(MappingSet m) { return text_of(kMappingSets, m); }

double Anchor::claimed() const {
    return measure == Measure::efficiency ? claimed_efficiency.value_or(0)
                                          : claimed_speedup.value_or(0);
}

Result<std::vector<Anchor>> parse_anchors(const std::map<std::string, std::string>& files) {
    std::map<std::string, doc::CsvTable> tables;
    for (const char* name : {"anchors.csv", "scenarios.csv", "facts.csv"}) {
        const auto file = files.find(name);
        auto table = doc::parse_csv(file == files.end() ? "" : file->second, name);
        if (!table) return table.error();
        tables.emplace(name, std::move(*table));
    }
    std::vector<Diagnostic> problems;
    std::vector<Anchor> anchors;
    const doc::CsvTable& claims = tables.at("anchors.csv");
    for (std::size_t i = 0; i < claims.size(); ++i)
        anchors.push_back(read_anchor(Row(claims, i, problems)));
    attach(tables.at("scenarios.csv"), anchors, problems,
           [](Anchor& a, Row& row) { a.scenarios.push_back(read_scenario(row)); });
    attach(tables.at("facts.csv"), anchors, problems, [](Anchor& a, Row& row) {
        a.facts.push_back(
            {row.text("fact"), row.text("source"), row.text("as_of"), row.text("status")});
    });
    for (std::size_t i = 0; i < anchors.size(); ++i) {
        if (anchors[i].scenarios.empty())
            Row(claims, i, problems).complain("id", "an id that scenarios.csv names");
    }
    if (!problems.empty()) return bad_input(std::move(problems));
    return anchors;
}

const std::vector<Anchor>& guide_anchors() {
    static const std::vector<Anchor> all = [] {
        auto parsed = parse_anchors(guide_files());
        TRAINYARD_ASSERT(parsed.has_value() && !parsed->empty(),
                         "the embedded anchors parse; a test checks it");
        return *parsed;
    }();
    return all;
}

}  // namespace trainyard::cli
