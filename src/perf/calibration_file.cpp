// The file of calibrations: docs/reference/calibration.md.

#include "trainyard/doc/reader.hpp"
#include "trainyard/perf/calibration.hpp"

namespace trainyard::perf {

namespace {

using doc::MapReader;
using doc::Node;

constexpr std::size_t kMostEntries = 10'000;
/// A run a hundred times off its prediction is another run.
constexpr doc::NumberRange kFactor = {.min = 0.01, .max = 100};

Diagnostic mistake(const Node& at, std::string what) {
    return {.severity = Severity::error,
            .where = at.where,
            .what = std::move(what),
            .why = {},
            .fix = "write it again: trainyard calibrate RECORD… -o FILE"};
}

double factor_of(MapReader& r, const Node& at, const char* key, std::vector<Diagnostic>& out) {
    const auto value = r.optional_number(key, kFactor);
    if (!value && !r.has(key)) out.push_back(mistake(at, std::string(key) + " is missing"));
    return value.value_or(1);
}

Calibration read_entry(const Node& node, std::vector<Diagnostic>& out) {
    MapReader r(node, out);
    Calibration c;
    c.key = {r.string("family"), r.string("instance"), r.string("stack")};
    c.factor = factor_of(r, node, "factor", out);
    c.band.low = factor_of(r, node, "band_low", out);
    c.band.high = factor_of(r, node, "band_high", out);
    if (c.band.low > 1 || c.band.high < 1)
        out.push_back(mistake(node,
                              "the band must hold the corrected step time: band_low at most "
                              "1, band_high at least 1"));
    c.band.basis = r.string("basis");
    c.steps = r.optional_integer("steps", {.min = 1}).value_or(1);
    if (const Node* sources = r.node("sources");
        sources != nullptr && sources->is(Node::Kind::list)) {
        for (const Node& source : sources->items()) c.sources.push_back(source.text());
    }
    r.finish(doc::UnknownKeys::warn);
    return c;
}

}  // namespace

doc::Node Calibrations::json(std::string_view today) const {
    Node list = Node::list();
    for (const Calibration& c : all_) {
        Node sources = Node::list();
        for (const std::string& s : c.sources) sources.append(Node::string(s));
        Node n = Node::map();
        n.set("family", c.key.family).set("instance", c.key.instance).set("stack", c.key.stack);
        n.set("factor", c.factor).set("band_low", c.band.low).set("band_high", c.band.high);
        n.set("basis", c.band.basis).set("steps", c.steps).set("sources", std::move(sources));
        list.append(std::move(n));
    }
    Node root = Node::map();
    root.set("schema", "trainyard.calibration").set("schema_version", 1);
    root.set("written", today).set("calibrations", std::move(list));
    return root;
}

Result<Calibrations> Calibrations::parse(std::string_view text, std::string_view file) {
    auto root = doc::parse_json(text, file);
    if (!root) return root.error();
    const Node* schema = root->find("schema");
    const Node* version = root->find("schema_version");
    const Node* list = root->find("calibrations");
    if (schema == nullptr || schema->text() != "trainyard.calibration")
        return bad_input(mistake(*root, "this is no calibration"));
    if (version == nullptr || version->text() != "1")
        return bad_input(mistake(version == nullptr ? *root : *version, "schema_version is not 1"));
    if (list == nullptr || !list->is(Node::Kind::list) || list->items().size() > kMostEntries)
        return bad_input(mistake(*root, "\"calibrations\" is no list"));
    Calibrations all;
    std::vector<Diagnostic> out;
    for (const Node& node : list->items()) {
        if (!node.is(Node::Kind::map)) {
            out.push_back(mistake(node, "a calibration is a map"));
            continue;
        }
        Calibration c = read_entry(node, out);
        if (all.find(c.key) != nullptr) out.push_back(mistake(node, "it is there twice"));
        all.add(std::move(c));
    }
    for (const Diagnostic& d : out) {
        if (d.severity == Severity::error) return bad_input(std::move(out));
    }
    return all;
}

}  // namespace trainyard::perf
