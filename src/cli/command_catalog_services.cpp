// `trainyard catalog services`: what storage, network and control planes cost, as the bill uses it.

#include <fmt/format.h>

#include "command_catalog_fields.hpp"
#include "command_catalog_views.hpp"
#include "trainyard/base/text.hpp"

namespace trainyard::cli {

using catalog::Catalog;
using catalog::ServicePrice;
using doc::Node;

namespace {

Node record_of(const ServicePrice& s) {
    Node n = Node::map();
    n.set("key", s.key).set("region", s.region).set("value", s.value).set("unit", s.unit);
    return n.set("provenance", provenance_node(s.provenance));
}

bool matches(const ServicePrice& s, const std::vector<std::string>& words) {
    if (words.empty()) return true;
    for (const std::string& w : words) {
        if (s.key.starts_with(w)) return true;
    }
    return false;
}

/// A word that no key starts with.
std::optional<Diagnostic> unknown_word(const Catalog& c, const std::vector<std::string>& words) {
    for (const std::string& w : words) {
        bool any = false;
        std::vector<std::string> keys;
        for (const ServicePrice& s : c.services()) {
            any = any || s.key.starts_with(w);
            keys.push_back(s.key);
        }
        if (any) continue;
        const auto near = nearest(w, keys);
        return Diagnostic{Severity::error,
                          {},
                          fmt::format("no service price begins with \"{}\"", w),
                          "",
                          near ? fmt::format("did you mean \"{}\"?", *near)
                               : "`trainyard catalog services` lists them"};
    }
    return std::nullopt;
}

}  // namespace

Result<Outcome> show_services(const Catalog& c, const std::vector<std::string>& words,
                              const std::string& region, Format format, Io& io) {
    if (auto mistake = unknown_word(c, words)) return bad_input(std::move(*mistake));
    std::vector<const ServicePrice*> rows;
    for (const ServicePrice& s : c.services()) {
        const bool here = region.empty() || s.region == region || s.region == "any";
        if (here && matches(s, words)) rows.push_back(&s);
    }
    if (format != Format::table) {
        std::vector<Node> records;
        for (const ServicePrice* s : rows) records.push_back(record_of(*s));
        io.out << (format == Format::json ? catalog_json("services", std::move(records), io)
                                          : csv_text(records));
        return Outcome::done;
    }
    Table table({{"SERVICE", Align::left},
                 {"REGION", Align::left},
                 {"VALUE", Align::right},
                 {"UNIT", Align::left},
                 {"AS OF", Align::left},
                 {"SOURCE", Align::left}});
    for (const ServicePrice* s : rows) {
        table.add({s->key, s->region, fmt::format("{:.6g}", s->value), s->unit, s->provenance.as_of,
                   s->provenance.source});
    }
    io.out << table.text();
    io.out << io.paint(Tone::dim,
                       "\nThe bill takes the price of its region; where there is none, us-east-1's "
                       "or us-west-2's, and says so.\n");
    return Outcome::done;
}

}  // namespace trainyard::cli
