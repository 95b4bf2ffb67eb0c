// Spot traces in: no input may crash, hang or exhaust memory; what is accepted is one convention,
// and our own format reads back the same.

#include "fuzz_text.hpp"
#include "trainyard/spot/fit.hpp"
#include "trainyard/spot/stats.hpp"
#include "trainyard/spot/trace.hpp"

namespace {

using trainyard::spot::PoolTrace;

void expect_sound(const PoolTrace& pool) {
    TRAINYARD_ASSERT(!pool.start.empty() && pool.start.front() == 0, "a series begins at 0");
    TRAINYARD_ASSERT(pool.start.size() == pool.nodes.size(), "each step has a value");
    TRAINYARD_ASSERT(pool.price_start.size() == pool.price.size(), "each price has a time");
    for (std::size_t i = 0; i < pool.start.size(); ++i) {
        TRAINYARD_ASSERT(i == 0 || pool.start[i] > pool.start[i - 1], "times increase");
        TRAINYARD_ASSERT(i == 0 || pool.nodes[i] != pool.nodes[i - 1], "equal steps are merged");
        TRAINYARD_ASSERT(pool.nodes[i] >= 0 && pool.nodes[i] <= pool.capacity, "within capacity");
    }
    TRAINYARD_ASSERT(pool.end.base() >= pool.start.back(), "the end is not before the last step");
    for (double price : pool.price) TRAINYARD_ASSERT(price >= 0, "a price is not negative");
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): the name is libFuzzer's
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace trainyard;
    const spot::ImportOptions options{.tick = 600 * kSecond};
    auto set = spot::import_trace(fuzz::as_text(data, size), "availability/fuzz.csv", options);
    if (!set) {
        fuzz::expect_explained(set.error());
        TRAINYARD_ASSERT(set.error().diagnostics.size() == 1, "one mistake, one diagnostic");
        return 0;
    }
    spot::attach_prices(*set);
    for (const spot::PoolTrace& pool : set->pools) {
        expect_sound(pool);
        spot::pool_stats(pool, 0);
    }
    spot::zone_groups(set->pools, 0);
    if (!set->pools.empty() && set->pools.front().end > Seconds{}) {
        const std::string text = spot::write_trace_csv(*set);
        auto again = spot::import_trace(text, "again.csv", {});
        if (again) TRAINYARD_ASSERT(spot::write_trace_csv(*again) == text, "writing is stable");
    }
    return 0;
}
