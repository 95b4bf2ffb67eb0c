#pragma once
// The guide's anchors as text, as a Markdown page and as JSON.

#include <string>
#include <vector>

#include "anchors_compute.hpp"
#include "io.hpp"
#include "trainyard/doc/node.hpp"

namespace trainyard::cli {

/// One sentence each: the difference from the claim, what dominates, the scenario that comes
/// nearest, the arithmetic of the claim itself. Derived from the numbers; nothing is written by
/// hand for one anchor.
std::vector<std::string> explanation(const AnchorResult& r);
/// Claims of `all` that efficiency rises with size on the same instances, and what we compute for
/// both.
std::vector<std::string> contradictions(const std::vector<AnchorResult>& all);

/// At most 100 columns.
std::string anchors_text(const std::vector<AnchorResult>& all, const Io& io);
std::string anchors_markdown(const std::vector<AnchorResult>& all);
/// Schema trainyard.anchors, version 1: docs/guide-anchors.md.
doc::Node anchors_json(const std::vector<AnchorResult>& all);

}  // namespace trainyard::cli
