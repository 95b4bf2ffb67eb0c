#pragma once
// What the user allowed: comments "# trainyard: allow RULE reason" in the files, and
// trainyard.yaml.

#include <vector>

#include "trainyard/lint/check.hpp"

namespace trainyard::lint {

/// Marks findings that a comment on their line, alone on the line above, or "allow-file" anywhere
/// in their file allows. A comment without a reason, or with a rule that does not exist, is a
/// diagnostic.
void apply_comments(const std::vector<SourceText>& texts, Report& report);
/// Severity and "off" of trainyard.yaml.
void apply_overrides(const std::vector<Override>& overrides, std::vector<Finding>& findings);

}  // namespace trainyard::lint
