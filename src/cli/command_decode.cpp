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

/// Who says so: AWS's naming page, nobody, or the rule of thumb for sizes.
const char* standing(const NamePart& p) {
    if (p.role == "size") return "usual";
    return p.documented == Yes::yes  ? "documented"
           : p.documented == Yes::no ? "undocumented"
                                     : "unknown";
}

/// Lines of at most `width` characters, the second and later ones after `indent` blanks.
std::string wrapped(const std::string& first, const std::string& text, std::size_t indent,
                    int width) {
    const std::size_t limit = static_cast<std::size_t>(std::max(width, 60));
    std::string out;
    std::string line = first;
    for (const std::string_view word : split(text, ' ')) {
        if (display_width(line) + 1 + display_width(word) > limit) {
            out += line + "\n";
            line = std::string(indent, ' ') + std::string(word);
            continue;
        }
        if (!line.empty() && line.back() != ' ') line += ' ';
        line += word;
    }
    return out + line + "\n";
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
    // "p6" -> "p7": the next name in the row, which our table does not have.
    const std::string& last = first.rbegin()->first;
    const std::string checked = std::max_element(timeline.begin(), timeline.end(),
                                                 [](const LaunchEvent& a, const LaunchEvent& b) {
                                                     return a.provenance.as_of < b.provenance.as_of;
                                                 })
                                    ->provenance.as_of;
    return out + fmt::format("; no {}{} in our table of {}", last.substr(0, last.size() - 1),
                             last.back() - '0' + 1, checked);
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
    io.out << wrapped("  generations: ", generations(d.timeline), 4, io.width);
    if (d.timeline.front().line != "P") return;
    const std::vector<LaunchEvent> trn = line_of(naming, "Trn");
    print_timeline(trn, "Beside it, AWS's own training chips", "", io);
    io.out << wrapped("  generations: ", generations(trn), 4, io.width);
}

void print_rules(const DecodedName& d, Io& io) {
    for (const NameRule& r : d.folklore) {
        io.out << wrapped("  folklore: ", r.text, 12, io.width);
        io.out << wrapped("    against it: ", r.against, 16, io.width);
    }
    for (const NameRule& r : d.confusable) {
        io.out << wrapped("  not to be confused with " + r.scope + ": ", r.text, 4, io.width);
    }
}

void print(const DecodedName& d, const catalog::Catalog& c, Io& io) {
    io.out << io.paint(Tone::bold, d.name) << "\n";
    std::size_t widest = 4;
    for (const NamePart& p : d.parts) widest = std::max(widest, p.text.size());
    for (const NamePart& p : d.parts) {
        io.out << wrapped(
            fmt::format("  {:<{}}  {:<10}  {:<12}  ", p.text, widest, p.role, standing(p)),
            p.meaning, widest + 30, io.width);
    }
    if (d.instance) io.out << wrapped("  it is: ", what_it_is(*d.instance, c), 9, io.width);
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

void print_all(const std::vector<DecodedName>& names, const catalog::Catalog& c,
               const catalog::Naming& naming, bool history, Io& io) {
    for (std::size_t i = 0; i < names.size(); ++i) {
        if (i > 0) io.out << "\n";
        print(names[i], c, io);
        if (history) print_history(names[i], naming, io);
    }
}

Result<Outcome> run_decode(const Args& args, Io& io) {
    auto tables = catalog_tables(args);
    if (!tables) return tables.error();
    auto loaded = load_catalog(args, io.today);
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
    // One bad word takes nothing from the good ones: they are answered first.
    if (args.flag("json") && !names.empty()) {
        Node root = Node::map();
        root.set("schema", "trainyard.decode").set("schema_version", 1);
        Node list = Node::list();
        for (const DecodedName& d : names) list.append(decoded_node(d, *loaded));
        io.out << doc::write_json(root.set("names", std::move(list)));
    } else {
        print_all(names, *loaded, *naming, args.flag("history"), io);
    }
    if (!mistakes.empty()) return bad_input(std::move(mistakes));
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
        .positionals = {{.name = "name",
                         .help = "instance names",
                         .min = 1,
                         .max = kAnyNumber,
                         .names = "instance"}},
        .run = run_decode};
}

}  // namespace trainyard::cli
