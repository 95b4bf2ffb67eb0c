#pragma once
// Mistakes in user input are values: where, what, why and how to fix it. Collected, never just the
// first.

#include <string>
#include <string_view>
#include <vector>

namespace trainyard {

/// A place in the user's text. line and column are 1-based; 0 means unknown (then it is not
/// printed).
struct Location {
    std::string file;
    int line = 0;
    int column = 0;
};

enum class Severity { error, warning, note };
std::string_view to_string(Severity severity);  ///< "error", "warning", "note"

struct Diagnostic {
    Severity severity = Severity::error;
    Location where;
    std::string what;  ///< one sentence, no full stop: "tokens: \"300Q\" is not a number of tokens"
    std::string why;   ///< optional: the rule that was broken
    std::string fix;   ///< optional: what to write instead, or the next command
};

/// "job.yaml:3:9: error: what\n  why: …\n  fix: …\n". No colour; the CLI adds it.
std::string format(const Diagnostic& d);
std::string format(const std::vector<Diagnostic>& all);

}  // namespace trainyard
