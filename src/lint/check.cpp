#include "trainyard/lint/check.hpp"

#include <algorithm>
#include <tuple>

#include "allow.hpp"
#include "found.hpp"
#include "model.hpp"
#include "planned.hpp"

namespace trainyard::lint {

namespace {

std::string words_of(const Document& d) {
    if (d.kind == Kind::kubernetes) return d.object_kind + " (" + d.api + ")";
    return std::string(name_of(d.kind));
}

auto order(const Finding& f) {
    return std::tie(f.where.file, f.where.line, f.where.column, f.severity, f.rule, f.what);
}

/// A named file of which nothing was understood.
void name_unknown(const std::vector<SourceText>& texts, Report& report) {
    for (const SourceText& t : texts) {
        if (!t.named) continue;
        const bool is_known = std::any_of(report.recognised.begin(), report.recognised.end(),
                                          [&](const Recognised& r) { return r.path == t.path; });
        const bool is_diagnosed =
            std::any_of(report.diagnostics.begin(), report.diagnostics.end(),
                        [&](const Diagnostic& d) { return d.where.file == t.path; });
        if (is_known || is_diagnosed) continue;
        report.diagnostics.push_back(
            {Severity::warning,
             {t.path, 0, 0},
             "no kind of file that rules are known for: it was not checked",
             "the kind is told by the content, not by the name",
             "docs/reference/check.md lists the kinds"});
    }
}

}  // namespace

Report check(const std::vector<SourceText>& texts, const CheckOptions& options) {
    Report report;
    Documents documents;
    for (const SourceText& t : texts) read_source(t, documents, report.diagnostics);
    Case c = build_case(std::move(documents));
    c.performance = options.performance;
    c.model = options.model;
    std::optional<Planned> plan;
    if (options.plan) {
        auto read = read_planned(*options.plan, *c.catalog);
        if (read) {
            c.plan = &plan.emplace(*std::move(read));
        } else {
            const auto& why = read.error().diagnostics;
            report.diagnostics.insert(report.diagnostics.end(), why.begin(), why.end());
        }
    }
    for (const Document& d : c.documents) {
        if (d.kind == Kind::unknown || d.kind == Kind::python) continue;
        report.recognised.push_back({d.source->path, words_of(d), d.line});
    }
    for (const Rule& r : rules()) {
        Found found(r, report.findings);
        r.find(c, found);
    }
    std::sort(report.findings.begin(), report.findings.end(),
              [](const Finding& a, const Finding& b) { return order(a) < order(b); });
    const auto same = [](const Finding& a, const Finding& b) { return order(a) == order(b); };
    report.findings.erase(std::unique(report.findings.begin(), report.findings.end(), same),
                          report.findings.end());
    name_unknown(texts, report);
    apply_comments(texts, report);
    apply_overrides(options.overrides, report.findings);
    return report;
}

}  // namespace trainyard::lint
