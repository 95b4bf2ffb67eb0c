// Percentiles 8.5 and 91.5 of measured / predicted step time over the published runs, per
// accelerator (data/perf/error_bands.csv, written by tools/fit_constants.py). An accelerator
// without runs gets the pooled band, widened by half: nothing was measured there.

#include <cmath>
#include <map>

#include "embedded.hpp"
#include "trainyard/base/contract.hpp"
#include "trainyard/base/text.hpp"
#include "trainyard/doc/csv.hpp"
#include "trainyard/perf/predict.hpp"

namespace trainyard::perf {

namespace {

std::map<std::string, ErrorBand, std::less<>> parse_bands() {
    auto table = doc::parse_csv(embedded_files().at("error_bands.csv"), "error_bands.csv");
    TRAINYARD_ASSERT(table.has_value(), "the embedded error bands parse; a test checks it");
    std::map<std::string, ErrorBand, std::less<>> bands;
    for (std::size_t row = 0; row < table->size(); ++row) {
        const auto low = parse_number(table->cell(row, "low")),
                   high = parse_number(table->cell(row, "high"));
        TRAINYARD_ASSERT(low && high && *low > 0 && *high >= *low,
                         "bands are positive and ordered; a test checks it");
        const std::string id(table->cell(row, "accelerator"));
        bands[id] = {*low, *high,
                     std::string(table->cell(row, "runs")) + " published runs on " + id};
    }
    return bands;
}

}  // namespace

ErrorBand error_band(std::string_view accelerator_id) {
    static const auto bands = parse_bands();
    const auto it = bands.find(accelerator_id);
    if (it != bands.end()) return it->second;
    ErrorBand pooled = bands.at("pooled");
    pooled.low = std::pow(pooled.low, 1.5);
    pooled.high = std::pow(pooled.high, 1.5);
    pooled.basis = "no published run on " + std::string(accelerator_id) +
                   ": pooled residuals, widened by half";
    return pooled;
}

}  // namespace trainyard::perf
