// Names that SageMaker refuses.

#include <fmt/format.h>

#include <algorithm>

#include "found.hpp"
#include "trainyard/base/text.hpp"

namespace trainyard::lint::sm_name {

namespace {

void find(const Case& c, Found& found) {
    for (const Training& t : c.trainings) {
        const Said name = said(t.node, {"TrainingJobName"});
        if (!name || is_open(name.text) || t.form != Training::Form::request) continue;
        const bool ends_well =
            !name.text.empty() && name.text.front() != '-' && name.text.back() != '-';
        const bool is_plain = std::all_of(name.text.begin(), name.text.end(), [](char ch) {
            return (ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z') ||
                   (ch >= '0' && ch <= '9') || ch == '-';
        });
        if (ends_well && is_plain && name.text.size() <= 63) continue;
        found.at(name, name.text.size() > 63
                           ? fmt::format("a job name of {} characters", name.text.size())
                           : fmt::format("the job name \"{}\" has characters that are not allowed",
                                         printable(name.text, 80)));
    }
}

}  // namespace

Rule rule() {
    return {.id = "SM-NAME",
            .severity = Severity::error,
            .title = "A training job name that SageMaker refuses",
            .applies = "SageMaker requests",
            .why = "the request is refused",
            .fix = "letters, digits and single hyphens between them, at most 63",
            .source = "SageMaker API, TrainingJobName",
            .find = find};
}

}  // namespace trainyard::lint::sm_name
