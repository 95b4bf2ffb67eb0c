#include "readme.hpp"

#include <fmt/format.h>

#include "placeholders.hpp"
#include "render_target.hpp"
#include "trainyard/base/text.hpp"
#include "trainyard/render/text.hpp"

namespace trainyard::render {

namespace {

bool holds(const File& f, std::string_view text) {
    return f.content.find(text) != std::string::npos;
}

std::string fill_in(const Directory& d) {
    std::string rows;
    for (const Placeholder* p : kPlaceholders) {
        std::string files;
        for (const File& f : d.files()) {
            if (holds(f, p->value)) files += (files.empty() ? "`" : ", `") + f.path + "`";
        }
        if (files.empty()) continue;
        rows += fmt::format("| `{}` | {} | {} | `{}` |\n", p->value, p->meaning, files, p->how);
    }
    if (rows.empty()) return "";
    // No value to replace, but nothing runs without it.
    const bool slurm = d.find("job.env") != nullptr;
    const std::string yours =
        slurm
            ? "| `prepare` | what makes the program's environment: PyTorch, the program | "
              "`job.env` "
              "| |\n| `EXTRA_ARGUMENTS` | the program's arguments that no plan decides | `job.env` "
              "| |\n"
            : "";
    return "## Fill in\n\nThese values are well-formed and no one's; replace each before you "
           "start, here too:\n`grep -rlF OLD . | xargs sed -i 's|OLD|NEW|g'`\n\n"
           "| value | stands for | in | find yours |\n|---|---|---|---|\n" +
           rows + yours + "\n";
}

std::string commands(std::string_view title, const std::vector<std::string>& lines) {
    if (lines.empty()) return "";
    std::string s = fmt::format("## {}\n\n```sh\n", title);
    for (const std::string& line : lines) s += line + "\n";
    return s + "```\n\n";
}

/// What the whole run costs, line by line, as the plan has counted it.
std::string bill(const Recipe& r) {
    if (r.bill.empty()) return "";
    std::string s = "\n| of it, with " + markdown_text(r.service) + " | | |\n|---|---|---:|\n";
    for (const BillItem& item : r.bill)
        s += fmt::format("| {} | {} | {} |\n", markdown_text(item.name), markdown_text(item.detail),
                         format_usd_cents(item.amount));
    return s;
}

std::string cost(const Recipe& r, const ReadmeParts& parts) {
    const bool mixed = r.purchase == Purchase::mixed;
    const int sure = mixed ? r.base_nodes : r.nodes;
    std::string s =
        fmt::format("## Cost\n\n{} x {} at {}/h = **{}/h**{}, {} in {}", sure, r.instance.type,
                    format_usd_cents(r.rate * kHour), format_usd_cents(sure * r.rate * kHour),
                    r.block_days ? "" : " while it runs",
                    !mixed         ? to_string(r.purchase)
                    : r.block_days ? to_string(Purchase::capacity_block)
                                   : to_string(Purchase::on_demand),
                    r.region);
    if (mixed) s += fmt::format(", and {} on spot for less (below)", r.nodes - sure);
    s += fmt::format(", price of {}\n({}).", markdown_text(r.rate_source.as_of),
                     markdown_text(r.rate_source.source));
    if (r.block_days) {
        s += fmt::format("\n**{}** of it is due when the block is bought: {} days, used or not.",
                         format_usd(sure * r.rate * (*r.block_days * kDay)), *r.block_days);
    }
    if (!parts.more_per_hour.empty()) s += "\nBeside it: " + parts.more_per_hour + ".";
    return s +
           fmt::format("\nThe plan expects {} ({} to {}) and {} in all.\n",
                       format_duration(r.wall.expected), format_duration(r.wall.low),
                       format_duration(r.wall.high), format_usd(r.expected_cost)) +
           bill(r) + "\n";
}

std::string hashes(const Directory& d, const Recipe& r) {
    std::string bare;
    for (const File& f : d.files()) {
        if (!holds(f, r.plan_hash)) bare += (bare.empty() ? "`" : ", `") + f.path + "`";
    }
    std::string s = "Plan: sha256 `" + r.plan_hash + "`";
    return s + (bare.empty() ? ".\n" : "; it also made " + bare + ", which hold no comments.\n");
}

}  // namespace

void add_readme(Directory& directory, const Recipe& r, const ReadmeParts& parts) {
    std::string s = fmt::format("# {}: {}\n\n", parts.tool, markdown_text(r.name));
    s += markdown_text(r.job) + ".\n" + markdown_text(r.verdict) + ".\n\n";
    s += fmt::format("Written by `trainyard render --target {}`, trainyard {}. ",
                     to_string(parts.target), r.tool_version);
    s += hashes(directory, r) + "No account was touched.\n\n";
    s += fill_in(directory);
    s += commands("Start", parts.start);
    s += cost(r, parts);
    s += commands("Tear down", parts.tear_down);
    if (!parts.notes.empty()) s += "## Notes\n\n";
    for (const std::string& note : parts.notes) s += "- " + note + "\n";
    if (directory.find("iam/policy-read-only.json") != nullptr)
        s += "- `iam/policy-read-only.json` is for whoever only watches.\n";
    while (s.ends_with("\n\n")) s.pop_back();
    directory.add({"README.md", std::move(s)});
}

}  // namespace trainyard::render
