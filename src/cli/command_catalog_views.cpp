#include "command_catalog_views.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "command_catalog_fields.hpp"
#include "trainyard/base/text.hpp"
#include "trainyard/catalog/staleness.hpp"

namespace trainyard::cli {

using catalog::Accelerator;
using catalog::Catalog;
using catalog::Instance;
using catalog::Price;
using doc::Node;

Format format_of(const Args& args) {
    if (args.flag("json") || args.text("format") == "json") return Format::json;
    return args.text("format") == "csv" ? Format::csv : Format::table;
}

std::string catalog_json(std::string_view view, std::vector<Node> rows, const Io& io) {
    Node root = Node::map();
    root.set("schema", "trainyard.catalog")
        .set("schema_version", 1)
        .set("view", view)
        .set("today", io.today);
    Node list = Node::list();
    for (Node& row : rows) list.append(std::move(row));
    root.set("rows", std::move(list));
    return doc::write_json(root);
}

namespace {

std::string tflops(std::optional<FlopPerSecond> v) {
    return v ? fmt::format("{:.6g}", *v / kTFlopPerSecond) : "-";
}
std::string gigabytes(std::optional<BytesPerSecond> v) {
    return v ? fmt::format("{:.5g}", *v / kGBPerSecond) : "?";
}

Node number_or_null(std::optional<double> v) { return v ? Node::number(*v) : Node(); }

Node accelerator_record(const Accelerator& a, const Catalog& c) {
    Node n = Node::map();
    n.set("id", a.id)
        .set("name", a.name)
        .set("vendor", a.vendor)
        .set("architecture", a.architecture);
    n.set("use", to_string(a.use));
    n.set("launch_year", a.launch_year ? Node::integer(*a.launch_year) : Node());
    n.set("memory_bytes", std::round(a.memory / kByte))
        .set("memory_bytes_per_second", a.memory_bandwidth.base());
    for (int p = 0; p < catalog::kPrecisionCount; ++p) {
        const auto precision = static_cast<catalog::Precision>(p);
        n.set(fmt::format("peak_{}_flop_per_second", to_string(precision)),
              a.peak_for(precision) ? Node::number(a.peak_for(precision)->base()) : Node());
    }
    n.set("achievable_bf16_flop_per_second",
          a.achievable_bf16 ? Node::number(a.achievable_bf16->base()) : Node());
    n.set("multiprocessors", a.multiprocessors ? Node::integer(*a.multiprocessors) : Node());
    n.set("tdp_watt", number_or_null(a.tdp_watt));
    n.set("link", to_string(a.link)).set("link_name", a.link_name);
    n.set("link_bytes_per_second",
          a.link_bandwidth ? Node::number(a.link_bandwidth->base()) : Node());
    Node types = Node::list();
    for (const Instance& i : c.instances()) {
        if (i.accelerator == a.id) types.append(Node::string(i.type));
    }
    n.set("instances", std::move(types)).set("notes", a.notes);
    n.set("provenance", provenance_node(a.provenance));
    return n;
}

Table accelerator_table(const std::vector<const Accelerator*>& rows) {
    Table table({{"ID", Align::left},
                 {"ARCHITECTURE", Align::left},
                 {"GiB", Align::right},
                 {"MEM GB/s", Align::right},
                 {"FP16", Align::right},
                 {"BF16", Align::right},
                 {"FP8", Align::right},
                 {"BEST BF16", Align::right},
                 {"SMs", Align::right},
                 {"LINK", Align::left},
                 {"GB/s", Align::right},
                 {"W", Align::right}});
    for (const Accelerator* a : rows) {
        using catalog::Precision;
        table.add({a->id, a->architecture, fmt::format("{:.1f}", a->memory / kGiB),
                   gigabytes(a->memory_bandwidth), tflops(a->peak_for(Precision::fp16)),
                   tflops(a->peak_for(Precision::bf16)), tflops(a->peak_for(Precision::fp8)),
                   tflops(a->achievable_bf16),
                   a->multiprocessors ? std::to_string(*a->multiprocessors) : "?",
                   std::string(to_string(a->link)), gigabytes(a->link_bandwidth),
                   a->tdp_watt ? fmt::format("{:.0f}", *a->tdp_watt) : "?"});
    }
    return table;
}

}  // namespace

Result<Outcome> show_accelerators(const Catalog& c, const std::vector<std::string>& filters,
                                  Format format, Io& io) {
    std::vector<const Accelerator*> rows;
    std::vector<Diagnostic> mistakes;
    for (const std::string& f : filters) {
        const Accelerator* named = c.accelerator(f);
        const std::size_t before = rows.size();
        for (const Accelerator& a : c.accelerators()) {
            if (&a == named || a.id.starts_with(f) ||
                to_lower(a.architecture).starts_with(to_lower(f)))
                rows.push_back(&a);
        }
        if (rows.size() > before) continue;
        const auto near = c.nearest_accelerator(f);
        mistakes.push_back({Severity::error,
                            {},
                            fmt::format("no accelerator matches \"{}\"", f),
                            "",
                            near ? fmt::format("did you mean \"{}\"?", *near)
                                 : "`trainyard catalog accelerators` lists them"});
    }
    if (!mistakes.empty()) return bad_input(std::move(mistakes));
    if (filters.empty()) {
        for (const Accelerator& a : c.accelerators()) rows.push_back(&a);
    }
    if (format != Format::table) {
        std::vector<Node> records;
        for (const Accelerator* a : rows) records.push_back(accelerator_record(*a, c));
        io.out << (format == Format::json ? catalog_json("accelerators", std::move(records), io)
                                          : csv_text(records));
        return Outcome::done;
    }
    io.out << accelerator_table(rows).text();
    io.out << io.paint(
        Tone::dim,
        "\nPeaks and best measured matmul in dense TFLOP/s; GiB as the device reports them; GB/s "
        "of the link: one\n"
        "direction, per accelerator. \"-\": not supported or not published. Sources: --json\n");
    return Outcome::done;
}

namespace {

Node price_record(const Price& p) {
    Node n = Node::map();
    n.set("provider", p.provider).set("item", p.item);
    n.set("accelerator", p.accelerator.empty() ? Node() : Node::string(p.accelerator))
        .set("accelerators", p.accelerators);
    n.set("region", p.region).set("zone", p.zone.empty() ? Node() : Node::string(p.zone));
    n.set("purchase", to_string(p.purchase))
        .set("detail", p.detail.empty() ? Node() : Node::string(p.detail));
    n.set("usd_per_hour", p.rate / kUsdPerHour);
    n.set("usd_per_accelerator_hour",
          p.accelerators > 0 ? Node::number(p.rate / kUsdPerHour / p.accelerators) : Node());
    n.set("provenance", provenance_node(p.provenance));
    return n;
}

bool is_price_of(const Catalog& c, const Price& p, const std::string& word) {
    if (p.item == word || p.provider == word) return true;
    if (p.item.substr(0, p.item.find('.')) == word) return true;
    const Accelerator* a = c.accelerator(word);
    return a != nullptr && a->id == p.accelerator;
}

Diagnostic no_price(const Catalog& c, const std::string& word, const std::string& region) {
    const auto near = c.instance(word) != nullptr ? std::nullopt : c.nearest_instance(word);
    const std::string where = region.empty() ? "" : " in " + region;
    return {Severity::error,
            {},
            fmt::format("nobody published a price of \"{}\"{} that we know", word, where),
            "",
            near ? fmt::format("did you mean \"{}\"?", *near)
                 : "leave out --region to see where there is one, or give yours with --prices"};
}

}  // namespace

Result<Outcome> show_prices(const Catalog& c, const std::vector<std::string>& items,
                            const std::string& region, Format format, Io& io) {
    if (items.empty()) {
        return Error{ErrorKind::usage,
                     {{Severity::error,
                       {},
                       "catalog prices needs an instance, a family, an accelerator or a provider",
                       "",
                       "for example: trainyard catalog prices p5.48xlarge"}}};
    }
    std::vector<Price> rows;
    std::vector<Diagnostic> mistakes;
    for (const std::string& word : items) {
        const std::size_t before = rows.size();
        for (const Price& p : c.prices()) {
            if ((region.empty() || p.region == region) && is_price_of(c, p, word))
                rows.push_back(p);
        }
        if (rows.size() == before) mistakes.push_back(no_price(c, word, region));
    }
    if (!mistakes.empty()) return bad_input(std::move(mistakes));
    io.report(catalog::stale_prices(rows, io.today, catalog::kStaleAfterDays, 1));
    if (format != Format::table) {
        std::vector<Node> records;
        for (const Price& p : rows) records.push_back(price_record(p));
        io.out << (format == Format::json ? catalog_json("prices", std::move(records), io)
                                          : csv_text(records));
        return Outcome::done;
    }
    Table table({{"PROVIDER", Align::left},
                 {"ITEM", Align::left},
                 {"REGION", Align::left},
                 {"ZONE", Align::left},
                 {"PURCHASE", Align::left},
                 {"DETAIL", Align::left},
                 {"$/h", Align::right},
                 {"$/ACC-h", Align::right},
                 {"AS OF", Align::left}});
    for (const Price& p : rows) {
        const double usd = p.rate / kUsdPerHour;
        table.add({p.provider, p.item, p.region, p.zone, std::string(to_string(p.purchase)),
                   p.detail, fmt::format("{:.4f}", usd),
                   p.accelerators > 0 ? fmt::format("{:.4f}", usd / p.accelerators) : "-",
                   p.provenance.as_of +
                       (p.provenance.status == catalog::Status::assumed ? " unverified" : "")});
    }
    io.out << table.text();
    return Outcome::done;
}

}  // namespace trainyard::cli
