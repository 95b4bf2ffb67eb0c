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
    return "## Fill in\n\nThese values are well-formed and no one's; replace each before you "
           "start.\n\n| value | stands for | in | find yours |\n|---|---|---|---|\n" +
           rows + "\n";
}

std::string commands(std::string_view title, const std::vector<std::string>& lines) {
    if (lines.empty()) return "";
    std::string s = fmt::format("## {}\n\n```sh\n", title);
    for (const std::string& line : lines) s += line + "\n";
    return s + "```\n\n";
}

std::string cost(const Recipe& r, const ReadmeParts& parts) {
    std::string s = fmt::format(
        "## Cost\n\n{} x {} at {}/h = **{}/h** while it runs, {} in {}, price of {}\n({}).",
        r.nodes, r.instance.type, format_usd_cents(r.rate * kHour),
        format_usd_cents(r.cluster_rate() * kHour), to_string(r.purchase), r.region,
        markdown_text(r.rate_source.as_of), markdown_text(r.rate_source.source));
    if (!parts.more_per_hour.empty()) s += "\nBeside it: " + parts.more_per_hour + ".";
    return s + fmt::format("\nThe plan expects {} ({} to {}) and {} in all.\n\n",
                           format_duration(r.wall.expected), format_duration(r.wall.low),
                           format_duration(r.wall.high), format_usd(r.expected_cost));
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
    while (s.ends_with("\n\n")) s.pop_back();
    directory.add({"README.md", std::move(s)});
}

}  // namespace trainyard::render
