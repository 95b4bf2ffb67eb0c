// Finds the importer for a text, by content.

#include <fmt/format.h>

#include <algorithm>

#include "import_format.hpp"
#include "trainyard/base/text.hpp"

namespace trainyard::spot {

Error refuse(Location where, std::string what, std::string why, std::string fix) {
    Diagnostic d;
    d.where = std::move(where);
    d.what = std::move(what);
    d.why = std::move(why);
    d.fix = std::move(fix);
    return bad_input(std::move(d));
}

Diagnostic note(const ImportInput& in, std::string what, std::string why) {
    Diagnostic d;
    d.severity = Severity::note;
    d.where.file = in.file;
    d.what = std::move(what);
    d.why = std::move(why);
    return d;
}

namespace {

using doc::Node;

Error unknown(const ImportInput& in, int line, int column) {
    return refuse({std::string(in.file), line, column}, "no known format of spot traces",
                  "the content matches none of the formats in docs/reference/traces.md",
                  "convert it to our own CSV format: trainyard trace convert --help");
}

Result<TraceSet> import_json(const ImportInput& in) {
    auto root = doc::parse_json(in.text, in.file);
    if (!root) return root.error();
    if (root->is(Node::Kind::map) && root->find("data") != nullptr) return import_series(*root, in);
    return unknown(in, root->where.line, root->where.column);
}

}  // namespace

Result<TraceSet> import_trace(std::string_view text, std::string_view file,
                              const ImportOptions& options) {
    const ImportInput in{text, file, options};
    if (text.size() > kMaxTraceBytes) {
        return refuse(
            {std::string(file), 0, 0}, "the file is too large for a trace",
            fmt::format("{} MiB; the limit is {} MiB", text.size() >> 20U, kMaxTraceBytes >> 20U),
            "split it by pool or by time");
    }
    const std::string_view body = trim(text);
    if (body.empty()) {
        return refuse({std::string(file), 1, 1}, "the file is empty", "", "give a spot trace");
    }
    if (body.front() == '{' || body.front() == '[') return import_json(in);
    return unknown(in, 1, 1);
}

}  // namespace trainyard::spot
