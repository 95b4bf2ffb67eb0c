#include "trainyard/lint/repair.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "trainyard/base/text.hpp"

namespace trainyard::lint {

namespace {

/// Byte offset of a column counted in characters; npos beyond the line.
std::size_t byte_of(std::string_view line, int column) {
    std::size_t at = 0;
    for (int c = 1; at < line.size(); ++at) {
        const bool is_start = (static_cast<unsigned char>(line[at]) & 0xC0U) != 0x80U;
        if (is_start && c++ == column) return at;
    }
    return std::string_view::npos;
}

/// Applies the edits of one line from right to left.
int repair_line(std::string& line, std::vector<Edit> edits) {
    std::sort(edits.begin(), edits.end(),
              [](const Edit& a, const Edit& b) { return a.where.column > b.where.column; });
    int done = 0;
    std::size_t limit = line.size();
    for (const Edit& e : edits) {
        std::size_t at = byte_of(line, e.where.column);
        if (at == std::string::npos) continue;
        if (line[at] == '"' || line[at] == '\'') ++at;
        if (e.remove.empty() || line.compare(at, e.remove.size(), e.remove) != 0) continue;
        if (at + e.remove.size() > limit) continue;
        line.replace(at, e.remove.size(), e.insert);
        limit = at;
        ++done;
    }
    return done;
}

struct Lines {
    std::vector<std::string> all;
    explicit Lines(std::string_view text) {
        for (const std::string_view l : split(text, '\n')) all.emplace_back(l);
    }
    std::string joined() const { return fmt::format("{}", fmt::join(all, "\n")); }
};

}  // namespace

std::vector<Repaired> repair(const Report& report, const std::vector<SourceText>& texts) {
    std::vector<Repaired> repaired;
    for (const SourceText& t : texts) {
        std::map<int, std::vector<Edit>> by_line;
        for (const Finding& f : report.findings) {
            if (f.allowed) continue;
            for (const Edit& e : f.edits) {
                if (e.where.file == t.path) by_line[e.where.line].push_back(e);
            }
        }
        if (by_line.empty()) continue;
        Lines lines(t.text);
        Repaired r{t.path, t.text, {}, 0};
        for (const auto& [number, edits] : by_line) {
            const auto index = static_cast<std::size_t>(number) - 1;
            if (number > 0 && index < lines.all.size()) {
                r.edits += repair_line(lines.all[index], edits);
            }
        }
        r.after = lines.joined();
        if (r.after != r.before) repaired.push_back(std::move(r));
    }
    return repaired;
}

std::string unified_diff(const Repaired& repaired) {
    constexpr std::size_t kAround = 3;
    const Lines before(repaired.before);
    const Lines after(repaired.after);
    std::string out = fmt::format("--- {}\n+++ {}\n", repaired.path, repaired.path);
    const std::size_t count = before.all.size();
    std::size_t at = 0;
    while (at < count) {
        if (before.all[at] == after.all[at]) {
            ++at;
            continue;
        }
        const std::size_t start = at > kAround ? at - kAround : 0;
        std::size_t last = at;  // of the changes of this hunk
        for (std::size_t i = at; i < count && i <= last + 2 * kAround; ++i) {
            if (before.all[i] != after.all[i]) last = i;
        }
        const std::size_t end = std::min(last + kAround + 1, count);
        out += fmt::format("@@ -{},{} +{},{} @@\n", start + 1, end - start, start + 1, end - start);
        for (std::size_t i = start; i < end; ++i) {
            if (before.all[i] == after.all[i]) {
                out += " " + before.all[i] + "\n";
            } else {
                out += "-" + before.all[i] + "\n+" + after.all[i] + "\n";
            }
        }
        at = end;
    }
    return out;
}

}  // namespace trainyard::lint
