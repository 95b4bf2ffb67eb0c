#include <fmt/format.h>

#include <algorithm>

#include "trainyard/base/text.hpp"
#include "trainyard/lint/write.hpp"

namespace trainyard::lint {

namespace {

Paint tone(Severity s) {
    return s == Severity::error     ? Paint::error
           : s == Severity::warning ? Paint::warning
                                    : Paint::note;
}

class TextWriter {
  public:
    TextWriter(const std::vector<SourceText>& texts, const TextStyle& style)
        : texts_(texts), style_(style) {}

    std::string paint(Paint p, std::string_view text) const {
        return style_.paint ? style_.paint(p, text) : std::string(text);
    }

    /// Wrapped under a label: "  why: …".
    void note(std::string& out, std::string_view label, std::string_view text) const {
        if (text.empty()) return;
        const std::string head = fmt::format("  {}: ", label);
        std::string line = head;
        bool is_empty = true;
        for (const std::string_view w : split(text, ' ')) {
            if (!is_empty && line.size() + 1 + w.size() > style_.width) {
                out += line + '\n';
                line = std::string(head.size(), ' ');
                is_empty = true;
            }
            line += (is_empty ? "" : " ") + std::string(w);
            is_empty = false;
        }
        out += line + '\n';
    }

    std::string_view line_of(const Location& where) {
        if (texts_.empty() || where.line <= 0) return {};
        if (current_ != where.file) {
            current_ = where.file;
            lines_.clear();
            for (const SourceText& t : texts_) {
                if (t.path == where.file) lines_ = split(t.text, '\n');
            }
        }
        const auto index = static_cast<std::size_t>(where.line) - 1;
        return index < lines_.size() ? lines_[index] : std::string_view{};
    }

    /// The line and a mark under the offending words; long lines are cut around them.
    void excerpt(std::string& out, const Finding& f) {
        std::string_view line = line_of(f.where);
        if (line.ends_with('\r')) line.remove_suffix(1);
        if (trim(line).empty()) return;
        std::size_t column = f.where.column > 0 ? static_cast<std::size_t>(f.where.column) - 1 : 0;
        constexpr std::size_t kWidest = 90;
        std::string shown(line);
        if (shown.size() > kWidest) {
            const std::size_t start = column > kWidest / 2 ? std::min(column, line.size()) - 30 : 0;
            shown = std::string(line.substr(start, kWidest));
            column -= std::min(start, column);
            if (start > 0) shown.replace(0, 1, "~");
        }
        std::replace(shown.begin(), shown.end(), '\t', ' ');
        const std::string number = std::to_string(f.where.line);
        out += fmt::format("  {} | {}\n", number, printable(shown));
        const std::size_t length = std::clamp<std::size_t>(f.text.size(), 1, 60);
        if (f.where.column > 0 && column < shown.size()) {
            const std::string mark(std::min(length, shown.size() - column), '^');
            out += fmt::format("  {} | {}{}\n", std::string(number.size(), ' '),
                               std::string(column, ' '), paint(Paint::mark, mark));
        }
    }

    void finding(std::string& out, const Finding& f) {
        std::string place = printable(f.where.file);
        if (f.where.line > 0) place += fmt::format(":{}", f.where.line);
        if (f.where.column > 0) place += fmt::format(":{}", f.where.column);
        out += fmt::format("{}: {}: {} {}\n", paint(Paint::place, place),
                           paint(tone(f.severity), to_string(f.severity)), printable(f.what),
                           paint(Paint::dim, "[" + f.rule + "]"));
        excerpt(out, f);
        note(out, "why", f.why);
        note(out, "fix", f.fix);
        if (f.waste) {
            note(out, "cost",
                 fmt::format("${:.2f} per hour (on demand, us-east-1)", *f.waste / kUsdPerHour));
        }
        if (f.efficiency_lost) {
            note(out, "lost", fmt::format("about {:.0f} % of the speed", *f.efficiency_lost * 100));
        }
        note(out, "holds for", f.holds_for);
        if (f.needs_account) note(out, "certain", "no: only your account can tell");
        for (const Related& r : f.related) {
            note(out, "see", fmt::format("{}:{}: {}", r.where.file, r.where.line, r.what));
        }
        if (f.allowed) note(out, "allowed", f.allowed->empty() ? "no reason given" : *f.allowed);
        out += '\n';
    }

  private:
    const std::vector<SourceText>& texts_;
    const TextStyle& style_;
    std::string current_;
    std::vector<std::string_view> lines_;
};

std::string counted(std::size_t n, std::string_view one) {
    return fmt::format("{} {}{}", n, one, n == 1 ? "" : "s");
}

std::string summary(const Report& report) {
    std::size_t by[3] = {};
    std::size_t allowed = 0;
    for (const Finding& f : report.findings) {
        if (f.allowed)
            ++allowed;
        else
            ++by[static_cast<std::size_t>(f.severity)];
    }
    std::vector<std::string> files;
    for (const Recognised& r : report.recognised) files.push_back(r.path);
    std::sort(files.begin(), files.end());
    files.erase(std::unique(files.begin(), files.end()), files.end());
    std::string out =
        fmt::format("{}, {}, {} in {}", counted(by[0], "error"), counted(by[1], "warning"),
                    counted(by[2], "note"), counted(files.size(), "file"));
    if (allowed > 0) out += fmt::format(" ({} allowed)", allowed);
    return out + '\n';
}

}  // namespace

std::string write_text(const Report& report, const std::vector<SourceText>& texts,
                       const TextStyle& style) {
    TextWriter writer(texts, style);
    std::string out;
    for (const Finding& f : report.findings) {
        if (!f.allowed || style.show_allowed) writer.finding(out, f);
    }
    return out + summary(report);
}

}  // namespace trainyard::lint
