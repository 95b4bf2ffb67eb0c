// Percentiles 8.5 and 91.5 of measured / predicted step time over the published runs, per
// accelerator (data/perf/error_bands.csv, written by tools/fit_constants.py). An accelerator
// without runs gets the pooled band, widened by half: nothing was measured there. Two kinds of runs
// have rows of their own, which can only widen: models with experts, and everyday frameworks.

#include <algorithm>
#include <cmath>
#include <map>

#include "embedded.hpp"
#include "trainyard/base/contract.hpp"
#include "trainyard/base/text.hpp"
#include "trainyard/doc/csv.hpp"
#include "trainyard/perf/predict.hpp"
#include "trainyard/perf/stack.hpp"

namespace trainyard::perf {

namespace {

struct Band {
    double low = 1;
    double high = 1;
    std::string runs;
};
using Bands = std::map<std::string, Band, std::less<>>;

Bands parse_bands() {
    auto table = doc::parse_csv(embedded_files().at("error_bands.csv"), "error_bands.csv");
    TRAINYARD_ASSERT(table.has_value(), "the embedded error bands parse; a test checks it");
    Bands bands;
    for (std::size_t row = 0; row < table->size(); ++row) {
        const auto low = parse_number(table->cell(row, "low")),
                   high = parse_number(table->cell(row, "high"));
        TRAINYARD_ASSERT(low && high && *low > 0 && *high >= *low,
                         "bands are positive and ordered; a test checks it");
        const std::string id(table->cell(row, "accelerator"));
        bands[id] = {*low, *high, std::string(table->cell(row, "runs"))};
    }
    return bands;
}

const Bands& all_bands() {
    static const Bands bands = parse_bands();
    return bands;
}

void widen(ErrorBand& band, const char* row, const char* runs_of) {
    const Band& kind = all_bands().at(row);
    if (kind.low >= band.low && kind.high <= band.high) return;
    band.low = std::min(band.low, kind.low);
    band.high = std::max(band.high, kind.high);
    band.basis += ", widened to " + kind.runs + runs_of;
}

}  // namespace

ErrorBand error_band(std::string_view accelerator_id) {
    const auto it = all_bands().find(accelerator_id);
    if (it != all_bands().end()) {
        const Band& b = it->second;
        return {b.low, b.high, b.runs + " published runs on " + std::string(accelerator_id)};
    }
    const Band& pooled = all_bands().at("pooled");
    return {std::pow(pooled.low, 1.5), std::pow(pooled.high, 1.5),
            "no published run on " + std::string(accelerator_id) +
                ": pooled residuals, widened by half"};
}

ErrorBand error_band(std::string_view accelerator_id, const RunKind& kind) {
    ErrorBand band = error_band(accelerator_id);
    if (kind.experts) widen(band, "experts", " runs of models with experts");
    if (kind.everyday) widen(band, "stock", " runs of everyday frameworks");
    return band;
}

ErrorBand error_band(const catalog::Accelerator& accelerator, const workload::Model& model,
                     std::string_view stack) {
    const Stack* known = find_stack(stack);
    return error_band(accelerator.id, {.experts = model.moe.has_value(),
                                       .everyday = known != nullptr && is_everyday(*known)});
}

}  // namespace trainyard::perf
