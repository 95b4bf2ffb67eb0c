#include "trainyard/doc/csv.hpp"

#include <fmt/format.h>

#include "place.hpp"
#include "trainyard/base/text.hpp"

namespace trainyard::doc {

namespace {

constexpr std::size_t kMaxCsvBytes = 64U << 20U;
constexpr std::size_t kMaxReportedRows = 10;

/// Reads one record at a time; a quoted cell may span lines.
class RecordReader {
  public:
    explicit RecordReader(std::string_view text) : text_(text), cursor_(text, {}) {}

    bool at_end() const { return at_ >= text_.size(); }
    int line() const { return line_; }
    const std::string& problem() const { return problem_; }

    /// The next line whole, for comments and blank lines.
    std::string_view peek_line() const {
        const std::string_view rest = text_.substr(at_);
        const std::string_view line = rest.substr(0, rest.find('\n'));
        return line.ends_with('\r') ? line.substr(0, line.size() - 1) : line;
    }
    void skip_line() {
        const std::size_t end = text_.find('\n', at_);
        at_ = end == std::string_view::npos ? text_.size() : end + 1;
        ++line_;
    }

    /// False if a quote is broken; problem() says how. Appends the place of every cell.
    bool read(std::vector<std::string>& cells, std::vector<CsvTable::Place>& places) {
        cells.clear();
        while (true) {
            std::string cell;
            cursor_.advance_to(at_);
            places.push_back({line_, cursor_.where().column});
            if (at_ < text_.size() && text_[at_] == '"') {
                if (!read_quoted(cell)) {
                    return false;
                }
            } else {
                const std::size_t end = std::min(text_.find_first_of(",\n", at_), text_.size());
                cell = text_.substr(at_, end - at_);
                at_ = end;
                const bool ends_line = at_end() || text_[at_] == '\n';
                if (ends_line && cell.ends_with('\r')) {
                    cell.pop_back();
                }
            }
            cells.push_back(std::move(cell));
            if (at_end()) {
                return true;
            }
            const char separator = text_[at_];
            ++at_;
            if (separator == '\n') {
                ++line_;
                return true;
            }
        }
    }

  private:
    bool read_quoted(std::string& cell) {
        ++at_;
        while (true) {
            const std::size_t quote = text_.find('"', at_);
            if (quote == std::string_view::npos) {
                problem_ = "a quoted cell has no closing quote";
                return false;
            }
            append(cell, text_.substr(at_, quote - at_));
            at_ = quote + 1;
            if (at_ < text_.size() && text_[at_] == '"') {
                cell += '"';
                ++at_;
                continue;
            }
            if (at_ + 1 < text_.size() && text_[at_] == '\r' && text_[at_ + 1] == '\n') {
                ++at_;
            }
            if (!at_end() && text_[at_] != ',' && text_[at_] != '\n') {
                problem_ = "text follows the closing quote of a cell";
                return false;
            }
            return true;
        }
    }

    void append(std::string& cell, std::string_view part) {
        for (const char c : part) {
            line_ += c == '\n' ? 1 : 0;
        }
        cell += part;
    }

    std::string_view text_;
    Cursor cursor_;  ///< follows at_ to know the column
    std::size_t at_ = 0;
    int line_ = 1;
    std::string problem_;
};

Diagnostic at_line(std::string_view file, int line, std::string what, std::string fix) {
    return {.where = {std::string(file), line, line > 0 ? 1 : 0},
            .what = std::move(what),
            .why = {},
            .fix = std::move(fix)};
}

Diagnostic broken_quote(std::string_view file, int line, const std::string& problem) {
    return at_line(file, line, problem, "write a quote inside a quoted cell twice (RFC 4180)");
}

}  // namespace

bool CsvTable::has(std::string_view column) const { return index_.contains(std::string(column)); }

std::string_view CsvTable::cell(std::size_t row, std::string_view column) const {
    const auto found = index_.find(std::string(column));
    return found == index_.end() ? std::string_view() : rows_[row][found->second];
}

Location CsvTable::place(std::size_t row, std::string_view column) const {
    const auto found = index_.find(std::string(column));
    if (found == index_.end()) {
        return {file_, lines_[row], 0};
    }
    const Place& at = places_[row * header_.size() + found->second];
    return {file_, at.line, at.column};
}

Location CsvTable::header_place(std::string_view column) const {
    const auto found = index_.find(std::string(column));
    return found == index_.end()
               ? Location{file_, header_line_, 0}
               : Location{file_, header_line_, header_places_[found->second].column};
}

std::optional<Diagnostic> CsvTable::set_header(std::vector<std::string> names, int line) {
    header_ = std::move(names);
    for (std::size_t i = 0; i < header_.size(); ++i) {
        header_[i] = std::string(trim(header_[i]));
        if (!index_.emplace(header_[i], i).second) {
            return at_line(file_, line,
                           fmt::format("column {} appears twice", in_quotes(header_[i])),
                           "rename or delete one of them");
        }
    }
    return std::nullopt;
}

Result<CsvTable> parse_csv(std::string_view text, std::string_view file) {
    text = without_byte_order_mark(text);
    if (std::optional<Diagnostic> refused = refuse_text(text, file, kMaxCsvBytes)) {
        return bad_input(*std::move(refused));
    }
    CsvTable table;
    table.file_ = file;
    RecordReader reader(text);
    while (!reader.at_end() &&
           (reader.peek_line().starts_with('#') || reader.peek_line().empty())) {
        reader.skip_line();
    }
    if (reader.at_end()) {
        return bad_input(
            at_line(file, 0, "the table is empty", "the first line must name the columns"));
    }
    std::vector<std::string> cells;
    const int header_line = reader.line();
    table.header_line_ = header_line;
    if (!reader.read(cells, table.header_places_)) {
        return bad_input(broken_quote(file, header_line, reader.problem()));
    }
    if (std::optional<Diagnostic> refused = table.set_header(std::move(cells), header_line)) {
        return bad_input(*std::move(refused));
    }
    std::vector<Diagnostic> mistakes;
    while (!reader.at_end() && mistakes.size() < kMaxReportedRows) {
        if (reader.peek_line().empty()) {
            reader.skip_line();
            continue;
        }
        const int line = reader.line();
        if (!reader.read(cells, table.places_)) {
            mistakes.push_back(broken_quote(file, line, reader.problem()));
            break;
        }
        if (cells.size() != table.header_.size()) {
            mistakes.push_back(at_line(file, line,
                                       fmt::format("the row has {} cells, the header names {}",
                                                   cells.size(), table.header_.size()),
                                       "put cells that contain a comma in double quotes"));
            continue;
        }
        table.rows_.push_back(std::move(cells));
        table.lines_.push_back(line);
        cells = {};
    }
    if (!mistakes.empty()) {
        return bad_input(std::move(mistakes));
    }
    return table;
}

}  // namespace trainyard::doc
