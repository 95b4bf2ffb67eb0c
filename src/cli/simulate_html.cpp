// The page: data/simulate/report.html with style, data and scripts put in place of its markers.

#include <string_view>

#include "simulate_files.hpp"
#include "simulate_report.hpp"
#include "trainyard/base/contract.hpp"

namespace trainyard::cli {

namespace {

/// Inside <script> only "</" and "<!--" could end or change the element; in JSON every "<" stands
/// in a string, where it may be written as an escape.
std::string script_safe(std::string_view json) {
    std::string out;
    out.reserve(json.size());
    for (const char c : json) {
        if (c == '<') {
            out += "\\u003c";
        } else {
            out += c;
        }
    }
    return out;
}

void put(std::string& page, std::string_view marker, std::string_view text) {
    const std::size_t at = page.find(marker);
    TRAINYARD_ASSERT(at != std::string::npos, "the template has every marker");
    page.replace(at, marker.size(), text);
}

}  // namespace

std::string simulate_html(const doc::Node& json) {
    const auto& files = simulate_files();
    std::string page = files.at("report.html");
    put(page, "/*{style}*/", files.at("report.css"));
    // From the end to the front: what is put in is not searched again.
    put(page, "/*{report}*/", files.at("report.js"));
    put(page, "/*{data}*/", script_safe(doc::write_json(json)));
    put(page, "/*{chart}*/", files.at("chart.min.js"));
    return page;
}

}  // namespace trainyard::cli
