// SARIF 2.1.0 (OASIS, 27 March 2020): https://docs.oasis-open.org/sarif/sarif/v2.1.0/

#include <algorithm>
#include <map>

#include "trainyard/doc/node.hpp"
#include "trainyard/lint/rule.hpp"
#include "trainyard/lint/write.hpp"

namespace trainyard::lint {

using doc::Node;

namespace {

constexpr std::string_view kSchema =
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";

Node text_node(std::string_view text) {
    Node n = Node::map();
    return n.set("text", text);
}

/// A URI reference: only unreserved characters and '/' stay as they are (RFC 3986).
std::string uri_of(std::string_view path) {
    static constexpr std::string_view kHex = "0123456789ABCDEF";
    std::string out = path.starts_with('/') ? "file://" : "";
    for (const char c : path) {
        const bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                              (c >= '0' && c <= '9') ||
                              std::string_view("-._~/").find(c) != std::string_view::npos;
        if (is_plain) {
            out += c;
        } else {
            const auto byte = static_cast<unsigned char>(c);
            out += '%';
            out += kHex[byte >> 4U];
            out += kHex[byte & 15U];
        }
    }
    return out;
}

Node location_node(const Location& where) {
    Node artifact = Node::map();
    artifact.set("uri", uri_of(where.file));
    Node physical = Node::map();
    physical.set("artifactLocation", std::move(artifact));
    if (where.line > 0) {
        Node region = Node::map();
        region.set("startLine", where.line);
        if (where.column > 0) region.set("startColumn", where.column);
        physical.set("region", std::move(region));
    }
    Node n = Node::map();
    return n.set("physicalLocation", std::move(physical));
}

Node rule_node(const Rule& r) {
    Node n = Node::map();
    n.set("id", r.id);
    n.set("shortDescription", text_node(r.title));
    n.set("fullDescription", text_node(std::string(r.title) + ". " + std::string(r.why) + "."));
    Node help =
        text_node("Fix: " + std::string(r.fix) + ". Source: " + std::string(r.source) + ".");
    n.set("help", std::move(help));
    Node configuration = Node::map();
    n.set("defaultConfiguration", configuration.set("level", to_string(r.severity)));
    Node tags = Node::list();
    tags.append(Node::string(std::string(r.family())));
    Node properties = Node::map();
    return n.set("properties", properties.set("tags", std::move(tags)));
}

Node result_node(const Finding& f, std::int64_t index) {
    Node n = Node::map();
    n.set("ruleId", f.rule).set("ruleIndex", index).set("level", to_string(f.severity));
    n.set("message", text_node(f.what + ". " + f.why + ". Fix: " + f.fix));
    Node locations = Node::list();
    n.set("locations", locations.append(location_node(f.where)));
    if (!f.related.empty()) {
        Node related = Node::list();
        for (const Related& r : f.related) {
            Node place = location_node(r.where);
            related.append(place.set("message", text_node(r.what)));
        }
        n.set("relatedLocations", std::move(related));
    }
    if (f.allowed) {
        Node suppression = Node::map();
        suppression.set("kind", "inSource").set("justification", *f.allowed);
        Node list = Node::list();
        n.set("suppressions", list.append(std::move(suppression)));
    }
    Node properties = Node::map();
    properties.set("certainOffline", !f.needs_account);
    if (f.waste) properties.set("wasteUsdPerHour", *f.waste / kUsdPerHour);
    return n.set("properties", std::move(properties));
}

}  // namespace

std::string write_sarif(const Report& report, std::string_view version) {
    std::map<std::string, std::int64_t, std::less<>> index;
    Node rule_list = Node::list();
    for (const Rule& r : rules()) {
        index.emplace(std::string(r.id), static_cast<std::int64_t>(index.size()));
        rule_list.append(rule_node(r));
    }
    Node driver = Node::map();
    driver.set("name", "trainyard").set("version", version).set("rules", std::move(rule_list));
    Node tool = Node::map();
    tool.set("driver", std::move(driver));
    Node results = Node::list();
    for (const Finding& f : report.findings) results.append(result_node(f, index[f.rule]));
    Node run = Node::map();
    run.set("tool", std::move(tool)).set("columnKind", "unicodeCodePoints");
    run.set("results", std::move(results));
    Node runs = Node::list();
    Node root = Node::map();
    root.set("$schema", kSchema).set("version", "2.1.0");
    return doc::write_json(root.set("runs", runs.append(std::move(run))));
}

}  // namespace trainyard::lint
