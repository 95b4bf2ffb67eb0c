#pragma once
// Every environment variable of a case, wherever it is set.

#include "model.hpp"

namespace trainyard::lint {

/// f(variable, job or nullptr, SageMaker job or nullptr).
template <typename F>
void each_variable(const Case& c, F f) {
    for (const Job& job : c.jobs) {
        for (const EnvVar& v : job.env) f(v, &job, static_cast<const Training*>(nullptr));
    }
    for (const Training& t : c.trainings) {
        for (const EnvVar& v : t.env) f(v, static_cast<const Job*>(nullptr), &t);
    }
}

inline Said name_of(const EnvVar& v) { return {v.name, v.value.where}; }
inline bool is_on(std::string_view value) {
    return is_one_of(value, {"1", "true", "True", "yes", "on"});
}
inline bool is_off(std::string_view value) {
    return is_one_of(value, {"0", "false", "False", "no", "off"});
}

}  // namespace trainyard::lint
