// JSON of the Can't-Be-Late traces and simulators: samples at a fixed interval, as numbers of nodes
// or as zeros and ones, with or without prices.
//
//     {"metadata": {"gap_seconds": 600}, "data": [1, 1, 0], "prices": [0.9, 0.9, 0.9]}
//
// What 1 means: the published traces write 1 for available; the files that were converted for the
// simulators write 1 for preempted, and only these carry metadata.price_info, which the simulator
// cannot do without (skynomad-artifact, data/README.md, read 2026).

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "import_format.hpp"

namespace trainyard::spot {

namespace {

using doc::Node;

const Node* at(const Node& root, const char* outer, const char* inner) {
    const Node* n = root.find(outer);
    return n == nullptr ? nullptr : n->find(inner);
}

Result<Seconds> tick_of(const Node& root, const ImportInput& in) {
    const Node* gap = at(root, "metadata", "gap_seconds");
    if (gap == nullptr) gap = root.find("gap_seconds");
    if (gap == nullptr) {
        if (in.options.tick) return *in.options.tick;
        return refuse(root.where, "the file does not say how far apart its samples are",
                      "\"metadata\": {\"gap_seconds\": …} is missing", "give it: --tick 195s");
    }
    return seconds_between(*gap);
}

/// All samples as counts; `largest` is the greatest.
Result<std::vector<int>> counts_of(const Node& data) {
    std::vector<int> values;
    values.reserve(data.items().size());
    for (const Node& item : data.items()) {
        const double v = item.is_numeric() ? item.as_number() : -1;
        if (v < 0 || v > kMaxNodes || v != std::floor(v)) {
            return refuse(item.where,
                          fmt::format("sample {} is no number of nodes", values.size() + 1),
                          "a sample is a whole number, 0 or more", "correct or remove it");
        }
        values.push_back(static_cast<int>(v));
    }
    return values;
}

struct Meaning {
    Convention ones;
    std::string why;
};

Result<Meaning> meaning_of(const Node& root, const Node& data, const std::vector<int>& values,
                           const ImportInput& in) {
    const auto many = std::find_if(values.begin(), values.end(), [](int v) { return v > 1; });
    if (many != values.end()) {
        if (in.options.convention == Convention::preempted) {
            const auto index = static_cast<std::size_t>(many - values.begin());
            return refuse(data.items()[index].where, fmt::format("{} cannot mean preempted", *many),
                          "only files of zeros and ones can be inverted",
                          "leave out --ones preempted: the values are numbers of nodes");
        }
        return Meaning{Convention::available, "values above 1 are numbers of nodes"};
    }
    if (in.options.convention) return Meaning{*in.options.convention, "as you said"};
    if (at(root, "metadata", "price_info") != nullptr) {
        return Meaning{Convention::preempted,
                       "metadata.price_info marks a file that was converted for a simulator"};
    }
    return Meaning{Convention::available,
                   "as in the published traces; if the file was converted for a simulator, say "
                   "--ones preempted"};
}

std::optional<Error> read_prices(const Node& prices, std::size_t samples, PoolTrace& pool) {
    if (!prices.is(Node::Kind::list) || prices.items().size() != samples) {
        return refuse(prices.where, "prices and samples do not match",
                      fmt::format("{} prices, {} samples", prices.items().size(), samples),
                      "correct the file");
    }
    for (std::size_t i = 0; i < samples; ++i) {
        const Node& item = prices.items()[i];
        if (!item.is_numeric() || item.as_number() < 0) {
            return refuse(item.where, fmt::format("price {} is no price", i + 1),
                          "a price is a number of US dollars per hour, 0 or more",
                          "correct or remove it");
        }
        append(pool.price_start, pool.price, static_cast<double>(i) * pool.tick.base(),
               item.as_number());
    }
    return std::nullopt;
}

std::optional<Error> read_start(const Node& root, const ImportInput& in, PoolTrace& pool) {
    const Node* start = at(root, "metadata", "start_time");
    if (start == nullptr) {
        pool.first_utc = in.options.first_utc.value_or(0);
        return std::nullopt;
    }
    const auto time = parse_time(start->text());
    if (!time) {
        return refuse(start->where, "start_time is no time",
                      "it must look like 2025-10-04T00:10:00+00:00", "correct or remove it");
    }
    pool.first_utc = static_cast<std::int64_t>(*time);
    return std::nullopt;
}

}  // namespace

Result<TraceSet> import_series(const Node& root, const ImportInput& in) {
    const Node& data = *root.find("data");
    if (!data.is(Node::Kind::list) || data.items().empty()) {
        return refuse(data.where, "\"data\" holds no samples", "", "give a list of numbers");
    }
    auto tick = tick_of(root, in);
    if (!tick) return tick.error();
    auto values = counts_of(data);
    if (!values) return values.error();
    auto meaning = meaning_of(root, data, *values, in);
    if (!meaning) return meaning.error();

    const PathFacts path = facts_of_path(in.file);
    PoolTrace pool;
    pool.pool = path.pool;
    const Node* zone = at(root, "metadata", "zone");
    pool.zone = zone != nullptr ? zone->text() : path.zone;
    pool.file = in.file;
    pool.tick = *tick;
    pool.end = static_cast<double>(values->size()) * *tick;
    pool.observation = path.observation.value_or(Observation::probe);
    pool.capacity = std::max({1, path.nodes, *std::max_element(values->begin(), values->end())});
    const bool inverted = meaning->ones == Convention::preempted;
    if (inverted) pool.capacity = 1;
    for (std::size_t i = 0; i < values->size(); ++i) {
        const int v = (*values)[i];
        append(pool.start, pool.nodes, static_cast<double>(i) * tick->base(), inverted ? 1 - v : v);
    }
    if (auto error = read_start(root, in, pool)) return *error;
    if (const Node* prices = root.find("prices")) {
        if (auto error = read_prices(*prices, values->size(), pool)) return *error;
    }
    TraceSet set;
    set.format = "samples (JSON)";
    set.notes.push_back(note(
        in, fmt::format("1 is read as {}", inverted ? "preempted" : "available"), meaning->why));
    set.pools.push_back(std::move(pool));
    return set;
}

}  // namespace trainyard::spot
