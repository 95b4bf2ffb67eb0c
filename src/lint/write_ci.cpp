// GitHub's workflow commands and JUnit XML.

#include <fmt/format.h>

#include <algorithm>

#include "trainyard/base/text.hpp"
#include "trainyard/lint/write.hpp"

namespace trainyard::lint {

namespace {

std::string escaped(std::string_view text, bool is_property) {
    std::string out;
    for (const char c : text) {
        switch (c) {
            case '%':
                out += "%25";
                break;
            case '\r':
                out += "%0D";
                break;
            case '\n':
                out += "%0A";
                break;
            case ':':
                out += is_property ? "%3A" : ":";
                break;
            case ',':
                out += is_property ? "%2C" : ",";
                break;
            default:
                out += c;
        }
    }
    return out;
}

double waste_of(const Finding& f) { return f.waste ? *f.waste / kUsdPerHour : 0; }

}  // namespace

std::string write_github(const Report& report) {
    // GitHub shows ten annotations of a kind for each step: the dearest first.
    std::vector<const Finding*> sorted;
    for (const Finding& f : report.findings) {
        if (!f.allowed) sorted.push_back(&f);
    }
    std::stable_sort(sorted.begin(), sorted.end(), [](const Finding* a, const Finding* b) {
        return waste_of(*a) > waste_of(*b);
    });
    std::string out;
    for (const Finding* f : sorted) {
        const std::string_view word = f->severity == Severity::error     ? "error"
                                      : f->severity == Severity::warning ? "warning"
                                                                         : "notice";
        out += fmt::format("::{} file={}", word, escaped(f->where.file, true));
        if (f->where.line > 0) out += fmt::format(",line={}", f->where.line);
        if (f->where.column > 0) out += fmt::format(",col={}", f->where.column);
        out += fmt::format(",title={}::{}\n", escaped(f->rule, true),
                           escaped(f->what + "\nwhy: " + f->why + "\nfix: " + f->fix, false));
    }
    return out;
}

std::string write_junit(const Report& report, const std::vector<SourceText>& texts) {
    std::size_t failures = 0;
    std::string cases;
    for (const SourceText& t : texts) {
        const bool is_checked = std::any_of(report.recognised.begin(), report.recognised.end(),
                                            [&](const Recognised& r) { return r.path == t.path; });
        if (!is_checked) continue;
        std::string inside;
        for (const Finding& f : report.findings) {
            const bool is_shown = f.where.file == t.path && !f.allowed;
            if (!is_shown || f.severity == Severity::note) continue;
            ++failures;
            inside += fmt::format(
                "      <failure type=\"{}\" message=\"{}\">{}:{}: {}\nwhy: {}\nfix: {}</failure>\n",
                escape_xml(f.rule), escape_xml(f.what), escape_xml(f.where.file), f.where.line,
                escape_xml(f.what), escape_xml(f.why), escape_xml(f.fix));
        }
        cases += fmt::format(
            "    <testcase classname=\"trainyard.check\" name=\"{}\">\n{}"
            "    </testcase>\n",
            escape_xml(t.path), inside);
    }
    const auto tests = static_cast<std::size_t>(
        std::count_if(texts.begin(), texts.end(), [&](const SourceText& t) {
            return std::any_of(report.recognised.begin(), report.recognised.end(),
                               [&](const Recognised& r) { return r.path == t.path; });
        }));
    return fmt::format(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n"
        "  <testsuite name=\"trainyard check\" tests=\"{}\" failures=\"{}\">\n{}  </testsuite>\n"
        "</testsuites>\n",
        tests, failures, cases);
}

}  // namespace trainyard::lint
