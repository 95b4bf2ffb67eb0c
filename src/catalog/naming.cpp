// naming.csv and timeline.csv.

#include <array>
#include <utility>

#include "embedded.hpp"
#include "table_row.hpp"
#include "trainyard/catalog/decode.hpp"

namespace trainyard::catalog {

namespace {

using Kind = NameRule::Kind;
constexpr std::array<std::pair<std::string_view, Kind>, 6> kKinds = {
    {{"service", Kind::service},
     {"family", Kind::family},
     {"letter", Kind::letter},
     {"option", Kind::option},
     {"folklore", Kind::folklore},
     {"confusable", Kind::confusable}}};

constexpr std::string_view kRuleColumns[] = {"kind", "key", "text", "as_of", "status", "source"};
constexpr std::string_view kRuleOptional[] = {"scope", "documented", "against"};
constexpr std::string_view kEventColumns[] = {"line",  "family", "date",
                                              "as_of", "status", "source"};
constexpr std::string_view kEventOptional[] = {"accelerator", "text"};

const std::string& table_text(const Tables& tables, const std::string& name) {
    const auto own = tables.find(name);
    return own != tables.end() ? own->second : embedded_files().at(name);
}

NameRule read_rule(TableRow& row) {
    NameRule rule;
    const std::string kind = row.required("kind");
    bool known = kind.empty();
    for (const auto& [name, value] : kKinds) {
        if (name == kind) {
            rule.kind = value;
            known = true;
        }
    }
    if (!known) {
        row.error("kind", "kind: \"" + kind + "\" is not known", "",
                  "one of service, family, letter, option, folklore, confusable");
    }
    rule.key = row.required("key");
    rule.scope = row.text("scope");
    rule.text = row.required("text");
    rule.against = row.text("against");
    if (rule.kind == Kind::folklore && rule.against.empty())
        row.error("against", "folklore without what contradicts it");
    rule.documented = row.yes_no("documented");
    rule.provenance = row.provenance();
    return rule;
}

LaunchEvent read_event(TableRow& row) {
    LaunchEvent event;
    event.line = row.required("line");
    event.family = row.required("family");
    event.date = row.required("date");
    if (!event.date.empty() && !age_in_days(event.date, "2026-01-01")) {
        row.error("date", "date: \"" + event.date + "\" is not a date", "", "write YYYY-MM-DD");
    }
    event.accelerator = row.text("accelerator");
    event.text = row.text("text");
    event.provenance = row.provenance();
    return event;
}

template <typename T, typename Read>
void read_table(const Tables& tables, const std::string& name,
                std::span<const std::string_view> required,
                std::span<const std::string_view> optional, Read read, std::vector<T>& rows,
                std::vector<Diagnostic>& problems) {
    auto table = doc::parse_csv(table_text(tables, name), name);
    if (!table) {
        problems.insert(problems.end(), table.error().diagnostics.begin(),
                        table.error().diagnostics.end());
        return;
    }
    if (!check_columns(*table, required, optional, problems)) return;
    const Sources none;
    for (std::size_t i = 0; i < table->size(); ++i) {
        TableRow row(*table, i, none, problems);
        rows.push_back(read(row));
    }
}

}  // namespace

Result<Naming> Naming::load(const Tables& tables) {
    Naming naming;
    std::vector<Diagnostic> problems;
    read_table(tables, "naming.csv", kRuleColumns, kRuleOptional, read_rule, naming.rules,
               problems);
    read_table(tables, "timeline.csv", kEventColumns, kEventOptional, read_event, naming.timeline,
               problems);
    if (!problems.empty()) return bad_input(std::move(problems));
    return naming;
}

}  // namespace trainyard::catalog
