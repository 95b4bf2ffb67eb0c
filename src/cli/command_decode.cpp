// trainyard decode: what an instance name says, what AWS documents and what people tell.

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "command_catalog_fields.hpp"
#include "command_catalog_input.hpp"
#include "table.hpp"
#include "trainyard/base/text.hpp"
#include "trainyard/catalog/decode.hpp"

namespace trainyard::cli {

using catalog::DecodedName;
using catalog::LaunchEvent;
using catalog::NamePart;
using catalog::NameRule;
using catalog::Yes;
using doc::Node;

namespace {

const char* standing(const NamePart& p) {
    if (p.role == "size") return "usual";
    return p.documented == Yes::yes  ? "AWS documents it"
           : p.documented == Yes::no ? "not documented"
                                     : "";
}

std::string network_of(const catalog::Instance& i) {
    if (!i.network) return "network unknown";
    std::string out = fmt::format("{:g} Gbit/s", *i.network / kGbitPerSecond);
    if (i.efa == Yes::no) out += ", no EFA";
    if (i.efa == Yes::yes)
        out +=
            fmt::format(", EFA on {} card{}", i.efa_interfaces, i.efa_interfaces == 1 ? "" : "s");
    return out;
}

std::string what_it_is(const catalog::Instance& i, const catalog::Catalog& c) {
    std::string out = i.retired ? "retired: no new launches. " : "";
    if (const auto* a = c.accelerator(i.accelerator)) {
        out += fmt::format("{} ({:.1f} GiB each{}), ", accelerators_text(i),
                           a->memory * i.accelerator_share.value_or(1) / kGiB,
                           i.accelerators > 1 ? ", " + std::string(to_string(i.intra_link)) : "");
    }
    return out + fmt::format("{} vCPU, {:g} GiB, {}", i.vcpu, i.memory / kGiB, network_of(i));
}

std::string years_between(const std::string& from, const std::string& to) {
    const auto days = catalog::age_in_days(from, to);
    return days ? fmt::format("{:.1f}", *days / 365.25) : "?";
}

void print_timeline(const std::vector<LaunchEvent>& timeline, const std::string& title,
                    const std::string& mine, Io& io) {
    if (timeline.empty()) return;
    io.out << "\n" << io.paint(Tone::bold, title) << "\n";
    Table table({{"  DATE", Align::left},
                 {"FAMILY", Align::left},
                 {"ACCELERATOR", Align::left},
                 {"", Align::left}});
    for (const LaunchEvent& e : timeline) {
        std::string text = e.text;
        if (e.family == mine) text += text.empty() ? "<- this one" : " <- this one";
        table.add({"  " + e.date, e.family, e.accelerator, text});
    }
    io.out << table.text();
}

/// First launch of each generation: "p2 2016-09-29, p3 2017-10-25 (1.1 years later), …".
std::string generations(const std::vector<LaunchEvent>& timeline) {
    std::map<std::string, const LaunchEvent*> first;
    for (const LaunchEvent& e : timeline) {
        const std::size_t digit = e.family.find_first_of("0123456789");
        first.try_emplace(e.family.substr(0, digit + 1), &e);
    }
    std::string out;
    const LaunchEvent* previous = nullptr;
    for (const auto& [generation, event] : first) {
        if (previous != nullptr)
            out += fmt::format(", {} after {} years", generation,
                               years_between(previous->date, event->date));
        else
            out += generation + " " + event->date;
        previous = event;
    }
    return out;
}

std::vector<LaunchEvent> line_of(const catalog::Naming& naming, std::string_view line) {
    std::vector<LaunchEvent> out;
    for (const LaunchEvent& e : naming.timeline) {
        if (e.line == line) out.push_back(e);
    }
    return out;
}

void print_history(const DecodedName& d, const catalog::Naming& naming, Io& io) {
    if (d.timeline.empty()) {
        io.out << "\n  no launch dates of this family in our table\n";
        return;
    }
    print_timeline(d.timeline, "Timeline", d.family, io);
    io.out << "  generations: " << generations(d.timeline) << "\n";
    if (d.timeline.front().line != "P") return;
    const std::vector<LaunchEvent> trn = line_of(naming, "Trn");
    print_timeline(trn, "Beside it, AWS's own training chips", "", io);
    io.out << "  generations: " << generations(trn) << "\n";
}

void print_rules(const DecodedName& d, Io& io) {
    for (const NameRule& r : d.folklore) {
        io.out << fmt::format("  folklore: {}\n            {}\n", r.text, r.against);
    }
    for (const NameRule& r : d.confusable)
        io.out << fmt::format("  not to be confused with {}: {}\n", r.scope, r.text);
}

void print(const DecodedName& d, const catalog::Catalog& c, Io& io) {
    io.out << io.paint(Tone::bold, d.name) << "\n";
    std::size_t widest = 4;
    std::size_t meaning = 0;
    for (const NamePart& p : d.parts) {
        widest = std::max(widest, p.text.size());
        meaning = std::max(meaning, display_width(p.meaning));
    }
    for (const NamePart& p : d.parts) {
        const std::string padding(meaning - display_width(p.meaning), ' ');
        std::string line = fmt::format("  {:<{}}  {:<10}  {}{}  {}", p.text, widest, p.role,
                                       p.meaning, padding, standing(p));
        line.erase(line.find_last_not_of(' ') + 1);
        io.out << line << "\n";
    }
    if (d.instance) io.out << "  it is: " << what_it_is(*d.instance, c) << "\n";
    if (!d.instance && !d.size.empty())
        io.out << "  not in our instance table" << (d.nearest ? "; nearest: " + *d.nearest : "")
               << "\n";
    print_rules(d, io);
}

Node rule_node(const NameRule& r) {
    Node n = Node::map();
    if (r.kind == NameRule::Kind::confusable) n.set("family", r.scope);
    n.set("text", r.text);
    if (!r.against.empty()) n.set("against", r.against);
    return n.set("provenance", provenance_node(r.provenance));
}

Node event_node(const LaunchEvent& e) {
    Node n = Node::map();
    n.set("family", e.family)
        .set("date", e.date)
        .set("accelerator", e.accelerator)
        .set("text", e.text);
    return n.set("provenance", provenance_node(e.provenance));
}

template <typename T>
Node list_of(const std::vector<T>& items, Node (*make)(const T&)) {
    Node list = Node::list();
    for (const T& item : items) list.append(make(item));
    return list;
}

Node part_node(const NamePart& p) {
    Node n = Node::map();
    n.set("text", p.text).set("role", p.role).set("meaning", p.meaning);
    n.set("documented",
          p.documented == Yes::unknown ? Node() : Node::boolean(p.documented == Yes::yes));
    return n.set("source", p.source.empty() ? Node() : Node::string(p.source));
}

Node decoded_node(const DecodedName& d, const catalog::Catalog& c) {
    Node n = Node::map();
    n.set("name", d.name)
        .set("family", d.family)
        .set("size", d.size.empty() ? Node() : Node::string(d.size));
    n.set("parts", list_of(d.parts, part_node));
    n.set("vcpu_by_rule", d.vcpu_by_rule ? Node::integer(*d.vcpu_by_rule) : Node());
    n.set("instance",
          d.instance
              ? record({&*d.instance, c.accelerator(d.instance->accelerator), std::nullopt}, c)
              : Node());
    n.set("nearest", d.nearest ? Node::string(*d.nearest) : Node());
    n.set("folklore", list_of(d.folklore, rule_node))
        .set("confusable", list_of(d.confusable, rule_node));
    n.set("timeline", list_of(d.timeline, event_node));
    Node unknown = Node::list();
    for (const std::string& s : d.unknown) unknown.append(Node::string(s));
    return n.set("unknown", std::move(unknown));
}

Result<Outcome> run_decode(const Args& args, Io& io) {
    auto tables = catalog_tables(args);
    if (!tables) return tables.error();
    auto loaded = load_catalog(args);
    if (!loaded) return loaded.error();
    auto naming = catalog::Naming::load(*tables);
    if (!naming) return naming.error();
    std::vector<DecodedName> names;
    std::vector<Diagnostic> mistakes;
    for (const std::string& word : args.list("name")) {
        auto decoded = catalog::decode(word, *naming, *loaded);
        if (decoded) {
            names.push_back(std::move(*decoded));
        } else {
            mistakes.insert(mistakes.end(), decoded.error().diagnostics.begin(),
                            decoded.error().diagnostics.end());
        }
    }
    if (!mistakes.empty()) return bad_input(std::move(mistakes));
    if (args.flag("json")) {
        Node root = Node::map();
        root.set("schema", "trainyard.decode").set("schema_version", 1);
        Node list = Node::list();
        for (const DecodedName& d : names) list.append(decoded_node(d, *loaded));
        io.out << doc::write_json(root.set("names", std::move(list)));
        return Outcome::done;
    }
    for (std::size_t i = 0; i < names.size(); ++i) {
        if (i > 0) io.out << "\n";
        print(names[i], *loaded, io);
        if (args.flag("history")) print_history(names[i], *naming, io);
    }
    return Outcome::done;
}

}  // namespace

Command decode_command() {
    std::vector<Option> options = {{.name = "history",
                                    .kind = Option::Kind::flag,
                                    .value_name = {},
                                    .help = "the family's launches with dates",
                                    .fallback = {},
                                    .choices = {}},
                                   {.name = "json",
                                    .kind = Option::Kind::flag,
                                    .value_name = {},
                                    .help = "print JSON",
                                    .fallback = {},
                                    .choices = {}}};
    for (Option& o : catalog_options()) options.push_back(std::move(o));
    return {
        .name = "decode",
        .summary = "Explain instance names: family, generation, letters, size",
        .description =
            "Accepts full names (ml.p5en.48xlarge), families (p4de) and the letters of a line (P).",
        .examples = {{"trainyard decode p4de.24xlarge trn1n.32xlarge ml.p5en.48xlarge",
                      "What these names say"},
                     {"trainyard decode --history P", "How a line of instances went on"}},
        .options = std::move(options),
        .positionals = {{.name = "name", .help = "instance names", .min = 1, .max = kAnyNumber}},
        .run = run_decode};
}

}  // namespace trainyard::cli
