#pragma once
// Python, read but never run: the calls with their keyword arguments as literals, the imports, and
// names bound to a literal before their use. Everything else stays "${…}": open, never guessed.
//
// The tree: {"imports": [text, …], "calls": [{"()": name, "#0": first positional, keyword: value}]}
// A call inside an argument is a map of the same form there, and stands in "calls", too.

#include <string_view>

#include "trainyard/doc/node.hpp"

namespace trainyard::lint {

/// Reads what it can: a text that is no Python gives an empty tree. Nesting beyond 64 is open.
doc::Node read_python(std::string_view text, std::string_view file);

}  // namespace trainyard::lint
