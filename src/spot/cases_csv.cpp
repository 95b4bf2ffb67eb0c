// The table of cases, in and out.

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>

#include "cases_job.hpp"
#include "trainyard/base/text.hpp"
#include "trainyard/doc/csv.hpp"
#include "trainyard/spot/cases.hpp"

namespace trainyard::spot {
namespace {

using doc::CsvTable;
using Mistakes = std::vector<Diagnostic>;

constexpr const char* kInputs[] = {"zone",       "start_tick", "task_h",
                                   "deadline_h", "overhead_h", "policy"};
constexpr std::string_view kOptimal = "optimal";
constexpr double kMaxHours = 1e6;
constexpr std::size_t kMaxMistakes = 20;

Diagnostic wrong(Location where, std::string what, std::string why, std::string fix) {
    Diagnostic d;
    d.where = std::move(where);
    d.what = std::move(what);
    d.why = std::move(why);
    d.fix = std::move(fix);
    return d;
}

class CaseReader {
  public:
    explicit CaseReader(const CsvTable& table) : table_(table), policies_(case_policies()) {}

    std::optional<Error> check_header() {
        for (const char* name : kInputs) {
            if (table_.has(name)) continue;
            const std::string near = nearest_stranger(name);
            mistakes_.push_back(
                wrong(table_.header_place(near), fmt::format("no column \"{}\"", name),
                      "a case is zone, start_tick, task_h, deadline_h, overhead_h and policy",
                      near.empty() ? fmt::format("add the column {}", name)
                                   : fmt::format("rename \"{}\" to \"{}\"", near, name)));
        }
        if (mistakes_.empty()) return std::nullopt;
        return bad_input(std::move(mistakes_));
    }

    Case read(std::size_t row) {
        Case c;
        c.line = table_.line(row);
        c.zone_column = table_.place(row, "zone").column;
        c.start_column = table_.place(row, "start_tick").column;
        c.task_column = table_.place(row, "task_h").column;
        c.policy_column = table_.place(row, "policy").column;
        c.zone = trim(table_.cell(row, "zone"));
        const bool is_name = std::all_of(c.zone.begin(), c.zone.end(), [](char x) {
            return (x >= 'a' && x <= 'z') || (x >= 'A' && x <= 'Z') || (x >= '0' && x <= '9') ||
                   x == '-' || x == '_';
        });
        if (c.zone.empty() || !is_name) {
            add(row, "zone", fmt::format("\"{}\" is no zone", printable(c.zone, 40)),
                "it is part of a file name: ZONE_v100_1.json",
                "write letters, digits, - and _, for example us-west-2a");
        }
        const double start = number(row, "start_tick", 0, 2e9, "a tick of the trace, from 0");
        if (start != static_cast<double>(static_cast<int>(start))) {
            add(row, "start_tick", "start_tick is not a whole number", "it counts ticks",
                "write a whole number");
        }
        c.start_tick = static_cast<int>(start);
        c.task_h = positive(row, "task_h");
        c.deadline_h = positive(row, "deadline_h");
        c.overhead_h = number(row, "overhead_h", 0, kMaxHours, "hours per launch, 0 or more");
        c.policy = trim(table_.cell(row, "policy"));
        check_policy(row, c.policy);
        return c;
    }

    bool is_full() const { return mistakes_.size() >= kMaxMistakes; }
    Mistakes& mistakes() { return mistakes_; }

  private:
    /// The column most like `name` that nothing reads; empty if none is like it.
    std::string nearest_stranger(std::string_view name) const {
        const auto likeness = [&](const std::string& other) {
            const auto longest = static_cast<int>(std::max(name.size(), other.size()));
            return longest - 2 * edit_distance(name, other);
        };
        std::string best;
        for (const std::string& column : table_.header()) {
            if (std::find(std::begin(kInputs), std::end(kInputs), column) != std::end(kInputs)) {
                continue;
            }
            if (likeness(column) >= (best.empty() ? 0 : likeness(best))) best = column;
        }
        return best;
    }

    void add(std::size_t row, const char* column, std::string what, std::string why,
             std::string fix) {
        mistakes_.push_back(
            wrong(table_.place(row, column), std::move(what), std::move(why), std::move(fix)));
    }

    double number(std::size_t row, const char* column, double min, double max, const char* rule) {
        const std::string_view text = trim(table_.cell(row, column));
        const auto value = parse_number(text);
        if (value && *value >= min && *value <= max) return *value;
        const bool is_over = value && *value > max;
        add(row, column,
            fmt::format("{}: \"{}\" is {}", column, printable(text, 40),
                        !value    ? "not a number"
                        : is_over ? "too large"
                                  : "too small"),
            rule, fmt::format("write a number from {:g} to {:g}", min, max));
        return min;
    }

    double positive(std::size_t row, const char* column) {
        const std::size_t before = mistakes_.size();
        const double value = number(row, column, 0, kMaxHours, "hours above 0");
        if (mistakes_.size() == before && hours_to_micros(value) <= kAlmostNothing) {
            add(row, column, fmt::format("{} is 0", column), "hours above 0 (1 ms counts as 0)",
                "write hours above 0");
        }
        return value;
    }

    void check_policy(std::size_t row, const std::string& policy) {
        if (policy == kOptimal || known_.contains(policy)) return;
        if (make_policy(policy) != nullptr) {
            known_.insert(policy);
            return;
        }
        const std::string name = policy.substr(0, policy.find(':'));
        if (std::find(policies_.begin(), policies_.end(), name) != policies_.end()) {
            add(row, "policy",
                fmt::format("policy \"{}\": argument missing or wrong", printable(policy, 40)),
                fmt::format("{} is there, but not so", name),
                "the arguments of policies: `trainyard simulate --help`");
            return;
        }
        const auto near = nearest(policy, policies_);
        add(row, "policy", fmt::format("no policy \"{}\"", printable(policy, 40)),
            "policies of cases are up, up_nohyst, greedy, on_demand, optimal and those of simulate",
            near ? fmt::format("did you mean \"{}\"?", *near) : "write one of them");
    }

    const CsvTable& table_;
    std::vector<std::string> policies_;
    std::set<std::string, std::less<>> known_;  ///< that can be made
    Mistakes mistakes_;
};

/// Comments stand before the header.
int header_line(std::string_view csv) {
    int line = 1;
    for (std::size_t at = 0; at < csv.size() && csv[at] == '#'; ++line) {
        at = std::min(csv.find('\n', at), csv.size() - 1) + 1;
    }
    return line;
}

}  // namespace

std::vector<std::string> case_policies() {
    std::vector<std::string> names;
    for (const PolicyInfo& info : policies()) names.push_back(info.name);
    names.emplace_back(kOptimal);
    return names;
}

Result<std::vector<Case>> read_cases(std::string_view csv, std::string_view file) {
    auto cases = read_cases(CaseBlock{std::string(csv), 0}, file);
    if (cases && cases->empty()) {
        return bad_input(wrong({std::string(file), 1, 1}, "no cases", "there is only a header",
                               "write one case per row"));
    }
    return cases;
}

std::vector<CaseBlock> split_cases(std::string_view csv, std::size_t bytes) {
    const auto next_line = [&](std::size_t from) {
        const std::size_t end = csv.find('\n', from);
        return end == std::string_view::npos ? csv.size() : end + 1;
    };
    std::size_t head = 0;
    for (int i = header_line(csv); i > 0; --i) head = next_line(head);
    if (csv.find('"') != std::string_view::npos) return {{std::string(csv), 0}};
    std::vector<CaseBlock> blocks;
    int skipped = 0;
    std::size_t at = head;
    do {
        const std::size_t end =
            csv.size() - at <= bytes ? csv.size() : next_line(std::max(at + bytes, at + 1) - 1);
        const std::string_view rows = csv.substr(at, end - at);
        blocks.push_back({std::string(csv.substr(0, head)), skipped});
        blocks.back().csv += rows;
        skipped += static_cast<int>(std::count(rows.begin(), rows.end(), '\n'));
        at = end;
    } while (at < csv.size());
    return blocks;
}

Result<std::vector<Case>> read_cases(const CaseBlock& block, std::string_view file) {
    const auto table = doc::parse_csv(block.csv, file);
    const int header = header_line(block.csv);
    const auto shift = [&](int line) { return line > header ? line + block.skipped : line; };
    if (!table) {
        Error error = table.error();
        for (Diagnostic& d : error.diagnostics) d.where.line = shift(d.where.line);
        return error;
    }
    CaseReader reader(*table);
    if (auto error = reader.check_header()) return *std::move(error);
    std::vector<Case> cases;
    cases.reserve(table->size());
    for (std::size_t row = 0; row < table->size() && !reader.is_full(); ++row) {
        cases.push_back(reader.read(row));
        cases.back().line = shift(cases.back().line);
    }
    for (Diagnostic& d : reader.mistakes()) d.where.line = shift(d.where.line);
    if (!reader.mistakes().empty()) return bad_input(std::move(reader.mistakes()));
    return cases;
}

std::string case_table_header() {
    return "zone,start_tick,task_h,deadline_h,overhead_h,policy,cost_usd,spot_ticks,od_ticks,ticks,"
           "launches,work_done_s,finish_h\n";
}

std::string case_table_rows(const std::vector<Case>& cases,
                            const std::vector<CaseResult>& results) {
    fmt::memory_buffer text;
    auto out = std::back_inserter(text);
    // 48.0 keeps its ".0": the shortest decimal that reads back as the same number.
    const auto hours = [&](double value) {
        const std::size_t before = text.size();
        fmt::format_to(out, "{}", value);
        const std::string_view digits(text.data() + before, text.size() - before);
        fmt::format_to(out, "{}",
                       digits.find_first_of(".e") == std::string_view::npos ? ".0," : ",");
    };
    for (std::size_t i = 0; i < cases.size(); ++i) {
        const Case& c = cases[i];
        const CaseResult& r = results[i];
        fmt::format_to(out, "{},{},", c.zone, c.start_tick);
        hours(c.task_h);
        hours(c.deadline_h);
        hours(c.overhead_h);
        fmt::format_to(out, "{},{:.6f},{},{},{},{},{:.3f},{:.4f}\n", c.policy, r.cost_usd,
                       r.spot_ticks, r.od_ticks, r.ticks, r.launches, r.work_done_s, r.finish_h);
    }
    return fmt::to_string(text);
}

}  // namespace trainyard::spot
