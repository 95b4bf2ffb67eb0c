// An instance type that SageMaker does not know.

#include <fmt/format.h>

#include "facts.hpp"
#include "found.hpp"

namespace trainyard::lint::sm_type {

namespace {

void find(const Case& c, Found& found) {
    for (const Training& t : c.trainings) {
        if (!t.type || is_open(t.type.text)) continue;
        if (is_one_of(t.type.text, {"local", "local_gpu", "heterogeneous"})) continue;
        if (!t.type.text.starts_with("ml.")) {
            Finding& f = found.at(
                t.type, fmt::format("\"{}\" lacks the ml. of SageMaker's types", t.type.text));
            f.fix = "ml." + t.type.text;
            f.edits.push_back({t.type.where, t.type.text, "ml." + t.type.text});
            continue;
        }
        const std::string_view bare = facts::bare_type(t.type.text);
        const bool is_accelerated = bare.starts_with("p") || bare.starts_with("trn");
        if (!is_accelerated || c.instance(bare) != nullptr) continue;
        Finding& f = found.at(t.type, fmt::format("there is no {}", t.type.text));
        if (const auto near = c.catalog->nearest_instance(bare))
            f.fix = "did you mean ml." + *near + "?";
    }
}

}  // namespace

Rule rule() {
    return {.id = "SM-TYPE",
            .severity = Severity::error,
            .title = "An instance type that is none of SageMaker's",
            .applies = "SageMaker jobs",
            .why = "the request is refused",
            .fix = "SageMaker's names begin with \"ml.\"",
            .source = "SageMaker API, ResourceConfig InstanceType",
            .find = find};
}

}  // namespace trainyard::lint::sm_type
