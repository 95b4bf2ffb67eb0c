#include "trainyard/lint/settings.hpp"

#include "said.hpp"
#include "trainyard/base/text.hpp"
#include "trainyard/doc/reader.hpp"
#include "trainyard/lint/rule.hpp"

namespace trainyard::lint {

using doc::Node;

namespace {

Override::To grade_of(std::string_view word) {
    if (word == "error") return Override::To::error;
    if (word == "warning") return Override::To::warning;
    return word == "note" ? Override::To::note : Override::To::off;
}

void read_rule(const std::string& id, const Node& value, std::vector<Override>& into,
               std::vector<Diagnostic>& mistakes) {
    if (rule(id) == nullptr) {
        std::vector<std::string> ids;
        for (const Rule& r : rules()) ids.emplace_back(r.id);
        const auto near = nearest(id, ids);
        mistakes.push_back(
            {Severity::error,
             key_of(value),
             "there is no rule \"" + printable(id, 60) + '"',
             {},
             near ? "did you mean " + *near + "?" : "trainyard rules check lists them"});
        return;
    }
    if (!value.is(Node::Kind::map)) {
        mistakes.push_back(
            {Severity::error, value.where, id + " wants a map", {}, "{severity: off, reason: …}"});
        return;
    }
    doc::MapReader r(value, mistakes);
    // "off" is a boolean to nobody but YAML 1.1; 1.2 reads it as text.
    const auto word = r.optional_choice("severity", {"off", "error", "warning", "note"});
    const std::string reason = r.optional_string("reason").value_or("");
    const std::string files = r.optional_string("files").value_or("");
    r.finish(doc::UnknownKeys::error);
    const Override o{id, grade_of(word.value_or("off")), reason, files};
    if (o.to == Override::To::off && reason.empty()) {
        mistakes.push_back({Severity::error, key_of(value),
                            id + " is switched off without a reason",
                            "whoever reads this later must know why", "add reason: …"});
    }
    into.push_back(o);
}

}  // namespace

Result<CheckOptions> read_settings(std::string_view text, std::string_view file) {
    auto root = doc::parse_yaml(text, file);
    if (!root) return root.error();
    CheckOptions options;
    std::vector<Diagnostic> mistakes;
    const Node* list = get(&*root, {"check", "rules"});
    if (list != nullptr && list->is(Node::Kind::map)) {
        for (const auto& [id, value] : list->members()) {
            read_rule(id, value, options.overrides, mistakes);
        }
    }
    if (!mistakes.empty()) return bad_input(std::move(mistakes));
    return options;
}

}  // namespace trainyard::lint
