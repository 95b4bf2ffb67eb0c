#pragma once
// The model's shape as data, so that a reader of the plan needs neither config.json nor the table
// of models. Keys: docs/reference/plan-json.md, "model".

#include "trainyard/doc/node.hpp"
#include "trainyard/workload/model.hpp"

namespace trainyard::plan {

doc::Node model_json(const workload::Model& m);

}  // namespace trainyard::plan
