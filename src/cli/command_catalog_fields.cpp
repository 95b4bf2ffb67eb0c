#include "command_catalog_fields.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "trainyard/base/text.hpp"

namespace trainyard::cli {

using catalog::Accelerator;
using catalog::Instance;
using catalog::Price;
using catalog::Yes;
using doc::Node;

namespace {

const char* yes_no(Yes y) { return y == Yes::yes ? "yes" : y == Yes::no ? "no" : "?"; }

std::string plain(double v, int decimals) {
    std::string s = fmt::format("{:.{}f}", v, decimals);
    if (s.find('.') != std::string::npos) {
        s.erase(s.find_last_not_of('0') + 1);
        if (s.back() == '.') s.pop_back();
    }
    return s;
}

std::string money(std::optional<double> usd) { return usd ? fmt::format("{:.2f}", *usd) : "?"; }
std::string gbit(std::optional<BytesPerSecond> v) {
    return v ? plain(*v / kGbitPerSecond, 1) : "?";
}
std::string rate(const std::optional<UsdPerSecond>& v) {
    return money(v ? std::optional(*v / kUsdPerHour) : std::nullopt);
}

std::string memory_each(const CatalogRow& r) {
    if (r.accelerator == nullptr) return "-";
    return plain(r.accelerator->memory * r.instance->accelerator_share.value_or(1) / kGiB, 1);
}

std::string efa_cards(const CatalogRow& r) {
    if (r.instance->efa == Yes::yes) {
        return r.instance->efa_interfaces > 0 ? std::to_string(r.instance->efa_interfaces) : "yes";
    }
    return r.instance->efa == Yes::no ? "no" : "?";
}

std::string efa_each(const CatalogRow& r) {
    const auto v = r.efa_per_accelerator();
    return v ? plain(*v / kGBPerSecond, 2) : "-";
}

std::string link(const CatalogRow& r) {
    if (r.instance->accelerators < 2) return "-";
    return std::string(to_string(r.instance->intra_link));
}

std::string price_of(const CatalogRow& r) {
    return money(r.price ? std::optional(r.price->rate / kUsdPerHour) : std::nullopt);
}

std::string count_or(const std::optional<int>& v) { return v ? std::to_string(*v) : "?"; }

constexpr Align kRight = Align::right;
constexpr Align kLeft = Align::left;

}  // namespace

const std::vector<Field>& instance_fields() {
    static const std::vector<Field> fields = {
        {"type",
         {"TYPE", kLeft},
         [](const CatalogRow& r) {
             return r.instance->type + (r.instance->retired ? " (retired)" : "");
         }},
        {"family", {"FAMILY", kLeft}, [](const CatalogRow& r) { return r.instance->family; }},
        {"accelerators",
         {"ACCELERATORS", kLeft},
         [](const CatalogRow& r) { return accelerators_text(*r.instance); }},
        {"memory-per-gpu", {"GiB EACH", kRight}, memory_each},
        {"vcpu",
         {"vCPU", kRight},
         [](const CatalogRow& r) { return std::to_string(r.instance->vcpu); }},
        {"host-memory",
         {"HOST GiB", kRight},
         [](const CatalogRow& r) { return plain(r.instance->memory / kGiB, 1); }},
        {"link", {"LINK", kLeft}, link},
        {"network",
         {"Gbit/s", kRight},
         [](const CatalogRow& r) { return gbit(r.instance->network); }},
        {"efa", {"EFA", kRight}, efa_cards},
        {"efa-generation",
         {"EFA GEN", kRight},
         [](const CatalogRow& r) { return count_or(r.instance->efa_generation); }},
        {"efa-per-gpu", {"GB/s/ACC", kRight}, efa_each},
        {"gpudirect",
         {"GPUDIRECT", kLeft},
         [](const CatalogRow& r) { return std::string(yes_no(r.instance->gpudirect_rdma)); }},
        {"nvme",
         {"NVMe GB", kRight},
         [](const CatalogRow& r) {
             return r.instance->local_nvme ? plain(*r.instance->local_nvme / kGB, 0) : "?";
         }},
        {"ebs",
         {"EBS Gbit/s", kRight},
         [](const CatalogRow& r) { return gbit(r.instance->ebs_bandwidth); }},
        {"price", {"$/h", kRight}, price_of},
        {"price-per-gpu",
         {"$/ACC-h", kRight},
         [](const CatalogRow& r) { return rate(r.price_per_accelerator()); }},
        {"price-per-pflop",
         {"$/PFLOP-h", kRight},
         [](const CatalogRow& r) { return money(r.usd_per_pflop_hour()); }},
        {"price-date",
         {"PRICED", kLeft},
         [](const CatalogRow& r) { return r.price ? r.price->provenance.as_of : "?"; }},
        {"launch",
         {"LAUNCH", kLeft},
         [](const CatalogRow& r) { return r.instance->launch.empty() ? "?" : r.instance->launch; }},
        {"source",
         {"SOURCE", kLeft},
         [](const CatalogRow& r) { return r.instance->provenance.source; }},
        {"notes", {"NOTES", kLeft}, [](const CatalogRow& r) { return r.instance->notes; }},
    };
    return fields;
}

std::vector<std::string> default_fields() {
    return {"type", "accelerators", "memory-per-gpu", "vcpu",          "network",
            "efa",  "efa-per-gpu",  "price",          "price-per-gpu", "launch"};
}

namespace {

Node optional_number(std::optional<double> v) { return v ? Node::number(*v) : Node(); }
Node optional_rate(std::optional<BytesPerSecond> v) { return v ? Node::number(v->base()) : Node(); }
Node optional_flops(std::optional<FlopPerSecond> v) { return v ? Node::number(v->base()) : Node(); }
Node optional_count(std::optional<int> v) { return v ? Node::integer(*v) : Node(); }
Node optional_yes(Yes y) { return y == Yes::unknown ? Node() : Node::boolean(y == Yes::yes); }
Node optional_text(const std::string& s) { return s.empty() ? Node() : Node::string(s); }

Node accelerator_node(const CatalogRow& r) {
    if (r.accelerator == nullptr) return {};
    const Accelerator& a = *r.accelerator;
    Node n = Node::map();
    n.set("id", a.id).set("name", a.name).set("architecture", a.architecture);
    n.set("memory_bytes", std::round(a.memory / kByte));
    n.set("memory_bytes_per_second", a.memory_bandwidth.base());
    n.set("peak_fp16_flop_per_second", optional_flops(a.peak_for(catalog::Precision::fp16)));
    n.set("peak_bf16_flop_per_second", optional_flops(a.peak_for(catalog::Precision::bf16)));
    n.set("peak_fp8_flop_per_second", optional_flops(a.peak_for(catalog::Precision::fp8)));
    n.set("link_bytes_per_second", optional_rate(a.link_bandwidth));
    return n;
}

Node price_node(const CatalogRow& r) {
    if (!r.price) return {};
    Node n = Node::map();
    n.set("purchase", to_string(r.price->purchase)).set("region", r.price->region);
    n.set("zone", optional_text(r.price->zone)).set("detail", optional_text(r.price->detail));
    n.set("usd_per_hour", r.price->rate / kUsdPerHour);
    const auto each = r.price_per_accelerator();
    n.set("usd_per_accelerator_hour", each ? Node::number(*each / kUsdPerHour) : Node());
    n.set("usd_per_pflop_hour", optional_number(r.usd_per_pflop_hour()));
    n.set("provenance", provenance_node(r.price->provenance));
    return n;
}

Node regions_node(const std::string& type, const catalog::Catalog& c) {
    std::set<std::string> regions;
    for (const Price& p : c.prices()) {
        if (p.item == type) regions.insert(p.region);
    }
    Node n = Node::list();
    for (const std::string& region : regions) n.append(Node::string(region));
    return n;
}

void flatten(const Node& n, const std::string& name,
             std::vector<std::pair<std::string, std::string>>& out) {
    if (n.is(Node::Kind::map)) {
        for (const auto& [key, value] : n.members())
            flatten(value, name.empty() ? key : std::string(name).append(".").append(key), out);
        return;
    }
    std::string text;
    if (n.is(Node::Kind::list)) {
        for (const Node& item : n.items()) text += (text.empty() ? "" : ";") + item.text();
    } else if (n.is(Node::Kind::boolean)) {
        text = n.as_bool() ? "true" : "false";
    } else if (n.is_numeric()) {
        text = fmt::format("{}", n.as_number());
    } else {
        text = n.text();
    }
    out.emplace_back(name, std::move(text));
}

std::string csv_cell(const std::string& s) {
    if (s.find_first_of(",\"\n\r") == std::string::npos) return s;
    std::string out = "\"";
    for (const char c : s) out += c == '"' ? "\"\"" : std::string(1, c);
    return out + "\"";
}

}  // namespace

Node provenance_node(const catalog::Provenance& p) {
    Node n = Node::map();
    n.set("source", p.source)
        .set("as_of", optional_text(p.as_of))
        .set("status", to_string(p.status));
    return n;
}

Node record(const CatalogRow& r, const catalog::Catalog& c) {
    const Instance& i = *r.instance;
    Node n = Node::map();
    n.set("type", i.type)
        .set("family", i.family)
        .set("retired", i.retired)
        .set("launch", optional_text(i.launch));
    n.set("vcpu", i.vcpu).set("memory_bytes", i.memory / kByte);
    n.set("accelerators", i.accelerators)
        .set("accelerator_share", optional_number(i.accelerator_share));
    n.set("accelerator", accelerator_node(r));
    n.set("intra_link", to_string(i.intra_link));
    n.set("network_bytes_per_second", optional_rate(i.network))
        .set("network_cards", optional_count(i.network_cards));
    n.set("efa", optional_yes(i.efa)).set("efa_interfaces", i.efa_interfaces);
    n.set("efa_generation", optional_count(i.efa_generation));
    n.set("efa_bytes_per_second_per_accelerator", optional_rate(r.efa_per_accelerator()));
    n.set("rdma_read", optional_yes(i.rdma_read)).set("rdma_write", optional_yes(i.rdma_write));
    n.set("gpudirect_rdma", optional_yes(i.gpudirect_rdma));
    n.set("local_nvme_bytes", i.local_nvme ? Node::number(*i.local_nvme / kByte) : Node());
    n.set("ebs_bytes_per_second", optional_rate(i.ebs_bandwidth));
    n.set("price", price_node(r));
    n.set("priced_regions", regions_node(i.type, c));
    n.set("notes", optional_text(i.notes));
    n.set("provenance", provenance_node(i.provenance));
    return n;
}

std::string csv_text(const std::vector<Node>& rows) {
    std::vector<std::string> header;
    std::set<std::string> known;
    std::vector<std::map<std::string, std::string>> cells;
    for (const Node& row : rows) {
        std::vector<std::pair<std::string, std::string>> flat;
        flatten(row, "", flat);
        for (const auto& [name, text] : flat) {
            if (known.insert(name).second) header.push_back(name);
        }
        cells.emplace_back(flat.begin(), flat.end());
    }
    // A null object in one row ("accelerator") is a set of columns in another: keep the columns.
    std::erase_if(header, [&](const std::string& name) {
        return std::any_of(header.begin(), header.end(),
                           [&](const std::string& other) { return other.starts_with(name + "."); });
    });
    std::string out;
    for (const std::string& name : header) out += (out.empty() ? "" : ",") + name;
    out += "\n";
    for (const auto& row : cells) {
        std::string line;
        for (std::size_t i = 0; i < header.size(); ++i) {
            const auto found = row.find(header[i]);
            line += (i == 0 ? "" : ",") + (found == row.end() ? "" : csv_cell(found->second));
        }
        out += line + "\n";
    }
    return out;
}

}  // namespace trainyard::cli
