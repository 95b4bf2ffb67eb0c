#pragma once
// How a study is shown.

#include <string>

#include "io.hpp"
#include "simulate_study.hpp"
#include "trainyard/doc/node.hpp"

namespace trainyard::cli {

/// For a terminal; `brief` leaves the assumptions out.
std::string simulate_text(const SimulateRequest& request, const Study& study, const Io& io);

/// Schema trainyard.simulate (docs/reference/simulate-json.md).
doc::Node simulate_json(const SimulateRequest& request, const Study& study, const Io& io);

/// One self-contained page; its data is simulate_json's, byte for byte but for escaped "<".
std::string simulate_html(const doc::Node& json);

}  // namespace trainyard::cli
