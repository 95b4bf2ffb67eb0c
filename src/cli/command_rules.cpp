// trainyard rules: every law and rule that the planner holds to, with its reason and source.

#include <fmt/format.h>

#include <algorithm>

#include "command.hpp"
#include "trainyard/base/text.hpp"
#include "trainyard/doc/node.hpp"
#include "trainyard/lint/rule.hpp"
#include "trainyard/plan/assumptions.hpp"
#include "trainyard/workload/training.hpp"

namespace trainyard::cli {
namespace {

struct Shown {
    std::string id, kind, condition, because, lifted_by, source, fix{};
};

/// In the order in which a plan meets them.
std::vector<Shown> all_rules() {
    const plan::Assumptions& a = plan::Assumptions::embedded();
    std::vector<Shown> all;
    for (const workload::MappingLaw& law : workload::mapping_laws()) {
        all.push_back({std::string(law.id), "law", std::string(law.law), std::string(law.reason),
                       "", std::string(law.source)});
    }
    for (const plan::DeviceRule& d : a.devices()) {
        all.push_back({to_lower(d.architecture) + "-" + d.rule, "device",
                       "the device is " + d.architecture, d.text, "", d.provenance.source});
    }
    for (const plan::Rule& r : a.rules())
        all.push_back({r.id, r.kind, r.condition, r.because, r.lifted_by, r.source});
    for (const plan::ServiceRule& s : a.services()) {
        all.push_back(
            {"service-" + s.id, "service", s.service + " if " + s.when, s.because, "", s.source});
    }
    for (const lint::Rule& r : lint::rules()) {
        all.push_back({std::string(r.id), "check", std::string(r.title), std::string(r.why), "",
                       std::string(r.source), std::string(r.fix)});
    }
    return all;
}

std::vector<std::string> kinds() {
    return {"law", "device", "type", "size", "purchase", "guide", "service", "check"};
}

std::string text_of(const Shown& r, const Io& io) {
    std::string s =
        fmt::format("{}  {}\n", io.paint(Tone::bold, fmt::format("{:<22}", r.id)), r.condition);
    const auto line = [&s](const char* name, const std::string& text) {
        if (!text.empty()) s += fmt::format("{:24}{}: {}\n", "", name, text);
    };
    line("why", r.because);
    line("fix", r.fix);
    line("lifted by", r.lifted_by);
    line("source", r.source);
    return s;
}

doc::Node node_of(const Shown& r) {
    doc::Node n = doc::Node::map();
    n.set("id", r.id).set("kind", r.kind).set("condition", r.condition).set("because", r.because);
    if (!r.fix.empty()) n.set("fix", r.fix);
    if (!r.lifted_by.empty()) n.set("lifted_by", r.lifted_by);
    return n.set("source", r.source);
}

bool matches(const Shown& r, const std::vector<std::string>& words) {
    return words.empty() || std::any_of(words.begin(), words.end(), [&](const std::string& w) {
               return r.kind == w || r.id == w;
           });
}

Result<Outcome> run_rules(const Args& args, Io& io) {
    const std::vector<Shown> all = all_rules();
    const std::vector<std::string> words = args.list("rule");
    std::vector<std::string> known = kinds();
    for (const Shown& r : all) known.push_back(r.id);
    std::vector<Diagnostic> mistakes;
    for (const std::string& w : words) {
        if (std::find(known.begin(), known.end(), w) != known.end()) continue;
        const auto near = nearest(w, known);
        mistakes.push_back(
            {Severity::error,
             {},
             "there is no rule or kind \"" + w + '"',
             fmt::format("kinds: {}", fmt::join(kinds(), ", ")),
             near ? "did you mean \"" + *near + "\"?" : "list all: trainyard rules"});
    }
    if (!mistakes.empty()) return bad_input(std::move(mistakes));
    doc::Node list = doc::Node::list();
    std::string kind;
    for (const Shown& r : all) {
        if (!matches(r, words)) continue;
        if (args.flag("json")) {
            list.append(node_of(r));
            continue;
        }
        if (r.kind != kind) io.out << (kind.empty() ? "" : "\n") << r.kind << "\n\n";
        kind = r.kind;
        io.out << text_of(r, io);
    }
    if (args.flag("json")) {
        doc::Node root = doc::Node::map();
        root.set("schema", "trainyard.rules").set("schema_version", 1);
        io.out << doc::write_json(root.set("rules", std::move(list)));
    }
    return Outcome::done;
}

}  // namespace

Command rules_command() {
    return {.name = "rules",
            .summary = "List the laws and rules a plan holds to, with reason, source and switch",
            .description =
                "Kinds: law (what frameworks refuse in a mapping), device, type, size, purchase, "
                "guide (rules of thumb of a practitioner's guide and what becomes of them), "
                "service; check (what trainyard check finds in files). RULE is a kind or an id.",
            .examples = {{"trainyard rules law", "Which mappings are legal, and who says so?"},
                         {"trainyard rules guide --json",
                          "What becomes of the guide's rules of thumb, for a program"}},
            .options = {{.name = "json",
                         .kind = Option::Kind::flag,
                         .help = "print JSON, schema trainyard.rules"}},
            .positionals = {{.name = "rule", .help = "kinds or ids", .min = 0, .max = kAnyNumber}},
            .run = run_rules};
}

}  // namespace trainyard::cli
