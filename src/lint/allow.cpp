#include "allow.hpp"

#include <algorithm>
#include <map>

#include "trainyard/base/text.hpp"
#include "trainyard/doc/node.hpp"
#include "trainyard/lint/rule.hpp"

namespace trainyard::lint {

namespace {

constexpr std::string_view kMark = "trainyard: allow";

struct Allowance {
    std::string rule;
    std::string reason;
    int first_line = 0;
    int last_line = 0;  ///< the line it stands on, or the next one with content
};

bool is_comment_only(std::string_view line) {
    line = trim(line);
    return line.starts_with('#') || line.starts_with("//");
}

Diagnostic mistake(const std::string& file, int line, std::string what, std::string fix) {
    return {Severity::warning, {file, line, 0}, std::move(what), {}, std::move(fix)};
}

void read_comment(const SourceText& source, std::string_view rest, int line, int target,
                  std::vector<Allowance>& into, std::vector<Diagnostic>& diagnostics) {
    const bool is_file = rest.starts_with("-file");
    if (is_file) rest.remove_prefix(5);
    rest = trim(rest);
    const std::size_t end = std::min(rest.find_first_of(" \t\r"), rest.size());
    std::string_view reason = trim(rest.substr(end));
    if (reason.ends_with("*/")) reason = trim(reason.substr(0, reason.size() - 2));
    std::vector<std::string> ids;
    for (const Rule& r : rules()) ids.emplace_back(r.id);
    for (const std::string_view id : split(rest.substr(0, end), ',')) {
        if (rule(id) == nullptr) {
            const auto near = nearest(id, ids);
            diagnostics.push_back(
                mistake(source.path, line, "there is no rule \"" + printable(id, 60) + '"',
                        near ? "did you mean " + *near + "?" : "trainyard rules check lists them"));
            continue;
        }
        if (reason.empty()) {
            diagnostics.push_back(mistake(source.path, line,
                                          "a finding is allowed without a reason",
                                          "write it behind the rule: # trainyard: allow " +
                                              std::string(id) + " we measured it"));
        }
        into.push_back(
            {std::string(id), std::string(reason), is_file ? 0 : line, is_file ? 1 << 30 : target});
    }
}

std::vector<Allowance> allowances_of(const SourceText& source,
                                     std::vector<Diagnostic>& diagnostics) {
    std::vector<Allowance> all;
    if (source.text.find(kMark) == std::string::npos) return all;
    const std::vector<std::string_view> lines = split(source.text, '\n');
    for (std::size_t i = 0; i < lines.size(); ++i) {
        const std::size_t at = lines[i].find(kMark);
        if (at == std::string_view::npos) continue;
        std::size_t target = i;
        if (is_comment_only(lines[i])) {
            while (target + 1 < lines.size() &&
                   (is_comment_only(lines[target]) || trim(lines[target]).empty())) {
                ++target;
            }
        }
        read_comment(source, lines[i].substr(at + kMark.size()), static_cast<int>(i) + 1,
                     static_cast<int>(target) + 1, all, diagnostics);
    }
    return all;
}

}  // namespace

void apply_comments(const std::vector<SourceText>& texts, Report& report) {
    for (const SourceText& source : texts) {
        for (const Allowance& a : allowances_of(source, report.diagnostics)) {
            for (Finding& f : report.findings) {
                if (f.rule == a.rule && f.where.file == source.path &&
                    f.where.line >= a.first_line && f.where.line <= a.last_line) {
                    f.allowed = a.reason;
                }
            }
        }
    }
}

void apply_overrides(const std::vector<Override>& overrides, std::vector<Finding>& findings) {
    for (const Override& o : overrides) {
        for (Finding& f : findings) {
            const bool is_meant =
                f.rule == o.rule &&
                (o.files.empty() || f.where.file.find(o.files) != std::string::npos);
            if (!is_meant) continue;
            switch (o.to) {
                case Override::To::off:
                    f.allowed = o.reason;
                    break;
                case Override::To::error:
                    f.severity = Severity::error;
                    break;
                case Override::To::warning:
                    f.severity = Severity::warning;
                    break;
                case Override::To::note:
                    f.severity = Severity::note;
                    break;
            }
        }
    }
}

}  // namespace trainyard::lint
