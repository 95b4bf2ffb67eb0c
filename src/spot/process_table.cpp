// Processes as a table: data/spot/processes.csv and what `trainyard trace fit` writes.

#include <fmt/format.h>

#include <algorithm>

#include "embedded.hpp"
#include "trainyard/base/contract.hpp"
#include "trainyard/base/text.hpp"
#include "trainyard/doc/csv.hpp"
#include "trainyard/spot/fit.hpp"

namespace trainyard::spot {

namespace {

constexpr std::string_view kHeader =
    "name,gang,up_shape,up_scale_s,down_shape,down_scale_s,start_up,gang_share,burst,"
    "single_per_hour,price_mean_usd_per_hour,price_deviation_usd_per_hour,"
    "price_between_changes_s,hour_factors,days,drops,singles,ks_distance,log_likelihood_gain,"
    "source,as_of,status";

struct Limits {
    double low;
    double high;
};

class Reader {
  public:
    explicit Reader(const doc::CsvTable& table) : table_(table) {}

    PoolProcess row(std::size_t row) {
        PoolProcess p;
        p.name = table_.cell(row, "name");
        if (p.name.empty()) wrong(row, "name", "no name");
        p.gang = static_cast<int>(number(row, "gang", {1, 1e6}));
        p.up.shape = number(row, "up_shape", {0.01, 100});
        p.up.scale = number(row, "up_scale_s", {1e-3, 1e12}) * kSecond;
        p.down.shape = number(row, "down_shape", {0.01, 100});
        p.down.scale = number(row, "down_scale_s", {1e-3, 1e12}) * kSecond;
        p.start_up = number(row, "start_up", {0, 1});
        p.gang_share = number(row, "gang_share", {0, 1});
        p.burst = number(row, "burst", {1, 1e6});
        p.single_per_hour = number(row, "single_per_hour", {0, 1e6});
        if (!table_.cell(row, "price_mean_usd_per_hour").empty()) {
            p.price.mean = number(row, "price_mean_usd_per_hour", {0, 1e6});
            p.price.deviation = number(row, "price_deviation_usd_per_hour", {0, 1e6});
            p.price.between_changes = number(row, "price_between_changes_s", {0, 1e12}) * kSecond;
        }
        hours(row, p);
        p.source = {std::string(table_.cell(row, "source")), std::string(table_.cell(row, "as_of")),
                    std::string(table_.cell(row, "status"))};
        return p;
    }

    std::vector<Diagnostic> mistakes;

  private:
    void wrong(std::size_t row, const char* column, std::string what) {
        Diagnostic d;
        d.where = table_.place(row, column);
        d.what = std::move(what);
        d.fix = "correct the cell, or fit again: trainyard trace fit --out FILE";
        mistakes.push_back(std::move(d));
    }
    double number(std::size_t row, const char* column, Limits limits) {
        const auto value = parse_number(table_.cell(row, column));
        if (value && *value >= limits.low && *value <= limits.high) return *value;
        wrong(row, column,
              fmt::format("{} is no number from {} to {}", column, limits.low, limits.high));
        return limits.low;
    }
    /// Empty: 1 at every hour.
    void hours(std::size_t row, PoolProcess& p) {
        const std::string_view cell = table_.cell(row, "hour_factors");
        if (cell.empty()) return;
        const auto words = split(cell, ' ');
        for (std::size_t h = 0; h < 24; ++h) {
            const auto value =
                words.size() == 24 ? parse_number(words[h]) : std::optional<double>();
            if (!value || *value <= 0 || *value > 1000) {
                wrong(row, "hour_factors", "no 24 factors above 0, separated by blanks");
                return;
            }
            p.hour_factor[h] = *value;
        }
    }

    const doc::CsvTable& table_;
};

std::string quoted(std::string_view s) {
    if (s.find_first_of(",\"\n\r") == std::string_view::npos) return std::string(s);
    std::string out = "\"";
    for (char c : s) out += c == '"' ? std::string("\"\"") : std::string(1, c);
    return out + '"';
}

std::string hour_cell(const PoolProcess& p) {
    if (std::all_of(p.hour_factor.begin(), p.hour_factor.end(), [](double f) { return f == 1; }))
        return "";
    std::string out;
    for (double f : p.hour_factor) out += fmt::format("{}{:.3f}", out.empty() ? "" : " ", f);
    return out;
}

}  // namespace

Result<std::vector<PoolProcess>> read_processes(std::string_view csv, std::string_view file) {
    auto table = doc::parse_csv(csv, file);
    if (!table) return table.error();
    Reader reader(*table);
    std::vector<PoolProcess> out;
    for (std::size_t row = 0; row < table->size() && reader.mistakes.size() < 20; ++row)
        out.push_back(reader.row(row));
    if (!reader.mistakes.empty()) return bad_input(std::move(reader.mistakes));
    return out;
}

std::string write_processes(const std::vector<ProcessFit>& fits) {
    std::string out = fmt::format("{}\n", kHeader);
    for (const ProcessFit& fit : fits) {
        if (!fit.missing.empty()) continue;
        const PoolProcess& p = fit.process;
        const bool priced = p.price.mean > 0;
        out +=
            fmt::format("{},{},{:.4g},{:.5g},{:.4g},{:.5g},{:.4g},{:.4g},{:.4g},{:.4g},",
                        quoted(p.name), p.gang, p.up.shape, p.up.scale.base(), p.down.shape,
                        p.down.scale.base(), p.start_up, p.gang_share, p.burst, p.single_per_hour);
        out += priced ? fmt::format("{:.4f},{:.4f},{:.0f},", p.price.mean, p.price.deviation,
                                    p.price.between_changes.base())
                      : ",,,";
        out += fmt::format("{},{:.1f},{},{},{:.3f},{:.1f},{},{},{}\n", hour_cell(p), fit.days,
                           fit.drops, fit.singles, fit.up->ks,
                           fit.up->log_likelihood - fit.up->exponential_log_likelihood,
                           quoted(p.source.text), quoted(p.source.as_of), quoted(p.source.status));
    }
    return out;
}

const std::vector<PoolProcess>& embedded_processes() {
    static const std::vector<PoolProcess> all = [] {
        auto read = read_processes(embedded_files().at("processes.csv"), "processes.csv");
        TRAINYARD_ASSERT(read.has_value(), "the embedded processes parse; a test checks it");
        return std::move(*read);
    }();
    return all;
}

}  // namespace trainyard::spot
