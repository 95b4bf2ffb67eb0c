// Any text as any kind of file: no reader and no rule of check may crash or hang, every finding
// says what, why, how to fix it and where, and every format of the report can be written.

#include <string>

#include "fuzz_text.hpp"
#include "trainyard/base/text.hpp"
#include "trainyard/doc/node.hpp"
#include "trainyard/lint/check.hpp"
#include "trainyard/lint/repair.hpp"
#include "trainyard/lint/settings.hpp"
#include "trainyard/lint/write.hpp"

namespace {

using namespace trainyard;

void check_as(std::string_view text, const char* path) {
    const std::vector<lint::SourceText> texts = {{path, std::string(text), true}};
    const lint::Report report = lint::check(texts);
    for (const lint::Finding& f : report.findings) {
        TRAINYARD_ASSERT(!f.what.empty() && !f.why.empty() && !f.fix.empty(), "findings explain");
        TRAINYARD_ASSERT(f.where.file == path && f.where.line > 0, "findings have a place");
    }
    for (const Diagnostic& d : report.diagnostics) {
        TRAINYARD_ASSERT(!d.what.empty() && d.where.file == path, "diagnostics have a place");
    }
    lint::write_text(report, texts, {});
    TRAINYARD_ASSERT(doc::parse_json(lint::write_json(report), "report.json").has_value(),
                     "the report is JSON");
    lint::write_github(report);
    lint::write_junit(report, texts);
    for (const lint::Repaired& r : lint::repair(report, texts)) lint::unified_diff(r);
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): the name is libFuzzer's
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text = fuzz::as_text(data, size);
    if (text.find('\0') != std::string_view::npos || !is_valid_utf8(text)) return 0;
    for (const char* path :
         {"a.yaml", "a.json", "a.tf", "a.py", "a.sh", "a.toml", "Dockerfile", "a"}) {
        check_as(text, path);
    }
    // The same text as the plan that a file is held against.
    const std::vector<lint::SourceText> none;
    lint::CheckOptions options;
    options.plan = lint::SourceText{"plan.json", std::string(text), true};
    for (const Diagnostic& d : lint::check(none, options).diagnostics) {
        TRAINYARD_ASSERT(!d.what.empty() && d.where.file == "plan.json", "a plan is refused");
    }
    const auto settings = lint::read_settings(text, "trainyard.yaml");
    if (!settings) fuzz::expect_explained(settings.error());
    return 0;
}
