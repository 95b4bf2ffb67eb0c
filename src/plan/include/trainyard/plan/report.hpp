#pragma once
// A plan as text (at most 100 columns) and as JSON (schema trainyard.plan, version 1;
// docs/reference/plan-json.md).

#include <string>

#include "trainyard/doc/node.hpp"
#include "trainyard/plan/plan.hpp"

namespace trainyard::plan {

struct ReportStyle {
    bool colour = false;
    bool explain = false;
};
std::string report_text(const Plan& plan, const ReportStyle& style);
doc::Node report_json(const Plan& plan);

}  // namespace trainyard::plan
