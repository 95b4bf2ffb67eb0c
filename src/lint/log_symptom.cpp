#include "log_symptom.hpp"

namespace trainyard::lint {

void report_symptoms(const Case& c, std::string_view id, Found& found,
                     const std::function<void(const nccl::Symptom&, Finding&)>& more) {
    for (const nccl::Symptom& s : c.log_symptoms) {
        if (s.id != id) continue;
        Finding& f = found.at(Said{s.text, s.where}, s.what);
        f.severity = s.severity;
        if (!s.why.empty()) f.why = s.why;
        if (!s.fix.empty()) f.fix = s.fix;
        if (more) more(s, f);
    }
}

}  // namespace trainyard::lint
