#pragma once
// Inside the module: one function for each target, and what they share.

#include "trainyard/render/target.hpp"

namespace trainyard::render {

#define TRAINYARD_TARGET(id, name, summary) \
    Result<Directory> render_##id(const Recipe& recipe, const Options& options);
#include "trainyard/render/targets.def"
#undef TRAINYARD_TARGET

/// A plan that a target or framework cannot express. `fix` names the nearest that can.
Error refuse(const Recipe& recipe, std::string what, std::string why, std::string fix);

/// The first two lines of a file: what wrote it, and the plan's hash. Only text of our own.
std::string head_comment(std::string_view mark, const Recipe& recipe, Target target);

}  // namespace trainyard::render
