#include "log_symptom.hpp"

namespace trainyard::lint {

void report_symptoms(const Case& c, std::string_view id, Found& found) {
    for (const nccl::Symptom& s : c.log_symptoms) {
        if (s.id != id) continue;
        Finding& f = found.at(Said{s.text, s.where}, s.what);
        f.severity = s.severity;
        if (!s.why.empty()) f.why = s.why;
        if (!s.fix.empty()) f.fix = s.fix;
    }
}

}  // namespace trainyard::lint
