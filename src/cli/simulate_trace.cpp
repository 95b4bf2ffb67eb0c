#include "simulate_trace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>

#include "command_trace_input.hpp"
#include "trainyard/spot/simulate.hpp"
#include "trainyard/sys/environment.hpp"

namespace trainyard::cli {

namespace {

/// "us-west-2a_v100_1" and "us-west-2a" -> "us-west-2"; other names are a region of their own.
std::string region_of(const spot::PoolTrace& trace) {
    std::string zone = trace.zone.empty() ? trace.pool.substr(0, trace.pool.find('_')) : trace.zone;
    if (zone.size() > 2 && zone.back() >= 'a' && zone.back() <= 'z' &&
        zone[zone.size() - 2] >= '0' && zone[zone.size() - 2] <= '9') {
        zone.pop_back();
    }
    return zone;
}

void stretch(spot::PoolTrace& trace, int nodes) {
    if (trace.capacity >= nodes || trace.capacity < 1) return;
    const double factor = static_cast<double>(nodes) / trace.capacity;
    for (int& n : trace.nodes) n = static_cast<int>(std::floor(n * factor));
    trace.capacity = nodes;
}

Error no_trace(const std::string& path, bool is_folder, bool any_prices) {
    Diagnostic d;
    d.where.file = path;
    d.what = fmt::format("there is no trace in this {}", is_folder ? "folder" : "file");
    d.why = any_prices  ? "it holds prices alone, no capacity over time"
            : is_folder ? "it holds no files; folders in it are not read"
                        : "";
    d.fix = "name a trace file, or a folder that holds some";
    return bad_input(std::move(d));
}

}  // namespace

Result<ReadTraces> read_traces(const std::string& path, const spot::ImportOptions& options) {
    std::vector<std::string> files = {path};
    bool is_folder = false;
    if (auto listed = sys::list_files(path, "")) {
        files = std::move(*listed);
        is_folder = true;
    }
    ReadTraces out;
    bool any_prices = false;
    std::vector<Diagnostic> mistakes;
    for (const std::string& file : files) {
        auto text = sys::read_file(file, spot::kMaxTraceBytes);
        if (!text) return text.error();
        auto set = spot::import_trace(*text, file, options);
        if (!set) {
            std::move(set.error().diagnostics.begin(), set.error().diagnostics.end(),
                      std::back_inserter(mistakes));
            continue;
        }
        any_prices = any_prices || !set->prices.empty();
        std::move(set->pools.begin(), set->pools.end(), std::back_inserter(out.pools));
        std::move(set->notes.begin(), set->notes.end(), std::back_inserter(out.notes));
    }
    if (!mistakes.empty()) return bad_input(std::move(mistakes));
    if (out.pools.size() > spot::kMostPools) {
        Diagnostic d;
        d.where.file = path;
        d.what = fmt::format("{} pools are too many", out.pools.size());
        d.why = fmt::format("at most {} can be played", spot::kMostPools);
        d.fix = "name a folder with fewer traces";
        return bad_input(std::move(d));
    }
    if (out.pools.empty()) return no_trace(path, is_folder, any_prices);
    out.notes = merged_notes(out.notes);
    return out;
}

std::optional<Error> use_traces(std::vector<spot::PoolTrace>& traces, bool own_prices,
                                spot::RunSpec& spec) {
    const auto is_spot = [](const spot::Pool& p) { return p.purchase == spot::Purchase::spot; };
    const auto old = std::find_if(spec.pools.begin(), spec.pools.end(), is_spot);
    const bool priced = old != spec.pools.end();
    const UsdPerSecond price = priced ? old->price : UsdPerSecond{};
    spec.pools.erase(std::remove_if(spec.pools.begin(), spec.pools.end(), is_spot),
                     spec.pools.end());
    std::map<std::string, int> regions;
    std::vector<spot::Pool> pools;
    for (spot::PoolTrace& trace : traces) {
        if (!own_prices) {
            trace.price.clear();
            trace.price_start.clear();
        }
        if (!priced && trace.price.empty()) {
            Diagnostic d;
            d.where.file = trace.file;
            d.what = own_prices ? "this trace has no prices, and the plan has no spot price"
                                : "the plan has no spot price to replay this trace with";
            d.fix = "plan with spot allowed (resume: checkpoint, no --no-spot)";
            if (!own_prices) d.fix += ", or use the trace's own prices: --trace-prices";
            return bad_input(std::move(d));
        }
        stretch(trace, spec.nodes);
        spot::Pool pool;
        pool.name = trace.pool.empty() ? trace.file : trace.pool;
        pool.zone = trace.zone;
        pool.price = price;
        pool.trace = &trace;
        pool.region =
            regions.emplace(region_of(trace), static_cast<int>(regions.size())).first->second;
        pools.push_back(std::move(pool));
    }
    spec.pools.insert(spec.pools.begin(), pools.begin(), pools.end());
    return std::nullopt;
}

}  // namespace trainyard::cli
