// The four rows of a practitioner's guide ("AWS Parallel Computing Services for AI Training",
// section "The AWS Instance Lineup") beside the catalog. The guide's cells are quotations; ours are
// computed, and each difference is one line.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "command_catalog_views.hpp"
#include "table.hpp"
#include "trainyard/catalog/decode.hpp"

namespace trainyard::cli {

using catalog::Catalog;
using catalog::Instance;
using catalog::Naming;

namespace {

/// One row as printed in the guide.
struct GuideRow {
    const char* family;
    const char* gpu;
    double memory_gb;
    double efa_gbit;
    int year;
};
constexpr GuideRow kGuide[] = {{"p3", "V100", 16, 100, 2017},
                               {"p4d", "A100", 40, 400, 2020},
                               {"p5", "H100", 80, 3200, 2023},
                               {"trn1", "Trainium", 32, 800, 2021}};

/// What the catalog says about the largest size of a family.
struct OurRow {
    const Instance* largest = nullptr;
    double gbit = 0;
    bool has_efa = false;
    std::string accelerator;
    double memory_gib = 0;
    std::string launch;
};

OurRow our_row(const Catalog& c, const Naming& naming, const std::string& family) {
    OurRow out;
    for (const Instance& i : c.instances()) {
        if (i.family != family || !i.network) continue;
        if (out.largest != nullptr && *i.network <= *out.largest->network) continue;
        out.largest = &i;
    }
    if (out.largest == nullptr) return out;
    out.gbit = *out.largest->network / kGbitPerSecond;
    out.has_efa = out.largest->efa == catalog::Yes::yes;
    out.accelerator = out.largest->accelerator;
    if (const auto* a = c.accelerator(out.accelerator)) out.memory_gib = a->memory / kGiB;
    for (const catalog::LaunchEvent& e : naming.timeline) {
        if (e.family == family) out.launch = e.date;
    }
    return out;
}

std::string network_text(double gbit, bool has_efa) {
    return fmt::format("{:.0f} Gbit/s{}", gbit, has_efa ? " EFA" : ", no EFA");
}

/// A sibling family ("p3dn" of "p3") that has what the guide claims.
const Instance* sibling_with(const Catalog& c, const GuideRow& g) {
    for (const Instance& i : c.instances()) {
        if (i.family != g.family && i.family.starts_with(g.family) && i.efa == catalog::Yes::yes &&
            i.network && std::abs(*i.network / kGbitPerSecond - g.efa_gbit) < 1) {
            return &i;
        }
    }
    return nullptr;
}

/// The device reports up to 8 % less than it is sold with.
bool is_same_memory(double sold_gb, double reported_gib) {
    return reported_gib <= sold_gb && reported_gib > 0.92 * sold_gb;
}

std::vector<std::string> corrections(const Catalog& c, const GuideRow& g, const OurRow& ours) {
    std::vector<std::string> out;
    if (!ours.has_efa || std::abs(ours.gbit - g.efa_gbit) >= 1) {
        std::string line =
            fmt::format("{}: the guide says {:.0f} Gbps EFA; {} has {}", g.family, g.efa_gbit,
                        ours.largest->type, network_text(ours.gbit, ours.has_efa));
        if (const Instance* sibling = sibling_with(c, g))
            line += fmt::format(". {} has it", sibling->type);
        out.push_back(line);
    }
    if (!is_same_memory(g.memory_gb, ours.memory_gib)) {
        out.push_back(fmt::format("{}: the guide says {:.0f} GB; the device reports {:.1f} GiB",
                                  g.family, g.memory_gb, ours.memory_gib));
    }
    if (ours.launch.substr(0, 4) != std::to_string(g.year)) {
        out.push_back(fmt::format("{}: the guide says {}; it became available on {}", g.family,
                                  g.year, ours.launch));
    }
    return out;
}

}  // namespace

Result<Outcome> show_guide_table(const Catalog& c, const Naming& naming, Io& io) {
    Table table({{"FAMILY", Align::left},
                 {"GUIDE SAYS", Align::left},
                 {"CATALOG SAYS", Align::left},
                 {"", Align::left}});
    std::vector<std::string> notes;
    for (const GuideRow& g : kGuide) {
        const OurRow ours = our_row(c, naming, g.family);
        if (ours.largest == nullptr) {
            table.add({g.family, g.gpu, "not in this catalog", ""});
            continue;
        }
        const std::vector<std::string> lines = corrections(c, g, ours);
        notes.insert(notes.end(), lines.begin(), lines.end());
        table.add({g.family,
                   fmt::format("{}, {:.0f} GB, {:.0f} Gbps EFA, {}", g.gpu, g.memory_gb, g.efa_gbit,
                               g.year),
                   fmt::format("{}, {:.1f} GiB, {}, {}", ours.accelerator, ours.memory_gib,
                               network_text(ours.gbit, ours.has_efa), ours.launch),
                   lines.empty() ? "agrees" : "corrected"});
    }
    io.out << table.text();
    if (!notes.empty()) io.out << "\nCorrections:\n";
    for (const std::string& line : notes) io.out << "  " << line << "\n";
    io.out << io.paint(Tone::dim,
                       "\nGuide: AWS Parallel Computing Services for AI Training, 2026 (status: "
                       "guide_claim). Sources of the right side: --json\n");
    return Outcome::done;
}

}  // namespace trainyard::cli
