#pragma once
// For the tests of this module: the one diagnostic of a refusal, printed like the CLI prints it.

#include <string>

#include "trainyard/base/result.hpp"

namespace trainyard::doc {

/// "x.json:1:5 what"; "accepted" if the result holds a value.
template <typename T>
std::string refusal(const Result<T>& result) {
    if (result) {
        return "accepted";
    }
    const Diagnostic& d = result.error().diagnostics.front();
    std::string place = d.where.file;
    if (d.where.line > 0) {
        place += ":" + std::to_string(d.where.line);
    }
    if (d.where.column > 0) {
        place += ":" + std::to_string(d.where.column);
    }
    return place + " " + d.what;
}

/// "3:9"
inline std::string place(const Location& where) {
    return std::to_string(where.line) + ":" + std::to_string(where.column);
}

}  // namespace trainyard::doc
