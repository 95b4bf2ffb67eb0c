#pragma once
// Private: one line to make a Diagnostic.

#include <string>
#include <utility>

#include "trainyard/base/diagnostic.hpp"

namespace trainyard::workload {

inline Diagnostic mistake(Location where, std::string what, std::string fix, std::string why = {}) {
    Diagnostic d;
    d.where = std::move(where);
    d.what = std::move(what);
    d.why = std::move(why);
    d.fix = std::move(fix);
    return d;
}

}  // namespace trainyard::workload
