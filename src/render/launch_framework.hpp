#pragma once
// One function for each framework, and what they share.

#include <string>

#include "launch.hpp"

namespace trainyard::render {

Result<Launch> fsdp_command(const Recipe& recipe, const Places& places);
Result<Launch> megatron_command(const Recipe& recipe, const Places& places);
Result<Launch> deepspeed_command(const Recipe& recipe, const Places& places);
Result<Launch> nxd_command(const Recipe& recipe, const Places& places);

/// Steps between two checkpoints: the plan's interval in steps, at least one.
long save_every(const Recipe& recipe);

/// A mapping or method that the framework has no words for; `nearest` can.
Error cannot_express(const Recipe& recipe, Framework framework, std::string why, Framework nearest);

}  // namespace trainyard::render
