#pragma once
// A report as text for people and as files for programs. Formats: docs/reference/check.md.

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "trainyard/lint/check.hpp"

namespace trainyard::lint {

/// How a part of the text is painted; the command line knows the colours.
enum class Paint { none, place, error, warning, note, mark, dim };
using Painter = std::function<std::string(Paint, std::string_view)>;

struct TextStyle {
    Painter paint;            ///< empty: plain
    std::size_t width = 100;  ///< columns
    bool show_allowed = false;
};

/// Compiler style: place, severity, sentence, the line with a mark, why, fix; a summary at the end.
std::string write_text(const Report& report, const std::vector<SourceText>& texts,
                       const TextStyle& style);
/// Schema trainyard.check, version 1.
std::string write_json(const Report& report);
std::string write_sarif(const Report& report, std::string_view version);
/// GitHub's workflow commands: ::error file=…
std::string write_github(const Report& report);
std::string write_junit(const Report& report, const std::vector<SourceText>& texts);

}  // namespace trainyard::lint
