#include "trainyard/base/diagnostic.hpp"

#include <fmt/format.h>

#include "trainyard/base/text.hpp"

namespace trainyard {

std::string_view to_string(Severity severity) {
    switch (severity) {
        case Severity::error:
            return "error";
        case Severity::warning:
            return "warning";
        case Severity::note:
            return "note";
    }
    return "error";
}

namespace {

std::string place(const Location& where) {
    std::string out = printable(where.file);
    if (where.line > 0) {
        out += fmt::format("{}{}", out.empty() ? "line " : ":", where.line);
        if (where.column > 0) {
            out += fmt::format(":{}", where.column);
        }
    }
    return out.empty() ? out : out + ": ";
}

}  // namespace

std::string format(const Diagnostic& d) {
    std::string out =
        fmt::format("{}{}: {}\n", place(d.where), to_string(d.severity), printable(d.what));
    if (!d.why.empty()) {
        out += fmt::format("  why: {}\n", printable(d.why));
    }
    if (!d.fix.empty()) {
        out += fmt::format("  fix: {}\n", printable(d.fix));
    }
    return out;
}

std::string format(const std::vector<Diagnostic>& all) {
    std::string out;
    for (const Diagnostic& d : all) {
        out += format(d);
    }
    return out;
}

}  // namespace trainyard
