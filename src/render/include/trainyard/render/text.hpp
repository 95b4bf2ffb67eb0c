#pragma once
// The only place that quotes. Every string that came from the user enters a file through one of
// these, so that no job name or S3 path can end a string, a line or a comment. JSON goes through
// doc::write_json.

#include <string>
#include <string_view>
#include <vector>

#include "trainyard/doc/node.hpp"

namespace trainyard::render {

/// A YAML 1.1 and 1.2 scalar that reads back as this string: plain where no parser could take it
/// for anything else, double-quoted otherwise.
std::string yaml_string(std::string_view s);

/// A whole document in block style. Strings are quoted by yaml_string. A member whose key begins
/// with '#' is written as a comment line with its value, above the member that follows.
std::string write_yaml(const doc::Node& root);

/// One word of a POSIX shell: plain if harmless, in single quotes otherwise.
std::string shell_word(std::string_view s);
/// Words with a space between.
std::string shell_words(const std::vector<std::string>& words);

/// A Python string literal in double quotes, ASCII only.
std::string python_string(std::string_view s);

/// Lines of a comment: each begins with `mark` and a space; control characters become '?'.
std::string comment(std::string_view mark, std::string_view s);

/// Text on one line of Markdown: control characters and line ends become spaces, and what Markdown
/// or HTML would read is escaped.
std::string markdown_text(std::string_view s);

}  // namespace trainyard::render
