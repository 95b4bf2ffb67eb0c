// Files that hold spot prices alone: AWS DescribeSpotPriceHistory dumps, lists of prices per tick
// (SkyNomad), one entry of Google's price list, Azure's daily tables.

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>

#include "import_format.hpp"
#include "trainyard/base/text.hpp"
#include "trainyard/doc/csv.hpp"

namespace trainyard::spot {

namespace {

using doc::Node;

std::optional<double> parse_price(std::string_view s) {
    if (s.starts_with('$')) s.remove_prefix(1);
    const auto value = parse_number(s);
    return value && *value >= 0 ? value : std::nullopt;
}

Error no_price(Location where) {
    return refuse(std::move(where), "no price", "it is a number of US dollars per hour, 0 or more",
                  "correct or remove it");
}

struct Change {
    double time = 0;
    double price = 0;
    Location where;
};

struct Record {
    std::string name;
    std::string zone;
    Change change;
};

Result<Record> aws_record(const Node& entry) {
    const Node* zone = entry.find("AvailabilityZone");
    const Node* type = entry.find("InstanceType");
    const Node* price = entry.find("SpotPrice");
    const Node* time = entry.find("Timestamp");
    if (zone == nullptr || type == nullptr || price == nullptr || time == nullptr) {
        return refuse(entry.where, "no price record",
                      "it has AvailabilityZone, InstanceType, SpotPrice and Timestamp",
                      "fetch it again: aws ec2 describe-spot-price-history");
    }
    const auto usd = parse_price(price->text());
    if (!usd) return no_price(price->where);
    const auto when = parse_time(time->text());
    if (!when) {
        return refuse(time->where, "Timestamp is no time",
                      "it must look like 2020-03-23T13:59:14.000Z", "correct or remove it");
    }
    return Record{
        fmt::format("{}_{}", zone->text(), type->text()), zone->text(), {*when, *usd, time->where}};
}

Result<PriceSeries> series_of(std::vector<Change> changes) {
    std::sort(changes.begin(), changes.end(),
              [](const Change& a, const Change& b) { return a.time < b.time; });
    PriceSeries series;
    const double first = changes.front().time;
    series.first_utc = static_cast<std::int64_t>(first);
    for (std::size_t i = 0; i < changes.size(); ++i) {
        const Change& change = changes[i];
        if (i > 0 && change.time == changes[i - 1].time) {
            if (change.price == changes[i - 1].price) continue;
            return refuse(change.where, "two prices at one time",
                          fmt::format("{} and {}", changes[i - 1].price, change.price),
                          "remove one");
        }
        append(series.start, series.price, change.time - first, change.price);
    }
    series.end = (changes.back().time - first) * kSecond;
    return series;
}

Result<PriceSeries> price_list(const Node& list, Seconds tick) {
    PriceSeries series;
    if (!list.is(Node::Kind::list) || list.items().empty()) {
        return refuse(list.where, "no prices", "a pool has a list of numbers", "correct the file");
    }
    for (std::size_t i = 0; i < list.items().size(); ++i) {
        const Node& item = list.items()[i];
        if (!item.is_numeric() || item.as_number() < 0) return no_price(item.where);
        append(series.start, series.price, static_cast<double>(i) * tick.base(), item.as_number());
    }
    series.end = static_cast<double>(list.items().size()) * tick;
    return series;
}

}  // namespace

Result<TraceSet> import_aws_prices(const Node& root, const ImportInput& in) {
    const Node& history = *root.find("SpotPriceHistory");
    std::map<std::string, std::pair<std::string, std::vector<Change>>> pools;
    std::size_t other = 0;
    for (const Node& entry : history.items()) {
        const Node* product = entry.find("ProductDescription");
        if (product != nullptr && !product->text().starts_with("Linux/UNIX")) {
            ++other;
            continue;
        }
        auto record = aws_record(entry);
        if (!record) return record.error();
        auto& [zone, changes] = pools[record->name];
        zone = record->zone;
        changes.push_back(std::move(record->change));
    }
    TraceSet set;
    set.format = "AWS spot price history (JSON)";
    for (auto& [name, pool] : pools) {
        auto series = series_of(std::move(pool.second));
        if (!series) return series.error();
        series->name = name;
        series->zone = pool.first;
        series->file = in.file;
        set.prices.push_back(std::move(*series));
    }
    if (other > 0) {
        set.notes.push_back(
            note(in, fmt::format("{} records left out", other), "they are not for Linux/UNIX"));
    }
    if (set.prices.empty()) {
        return refuse(history.where, "the price history holds no price",
                      other > 0 ? "none of its records is for Linux/UNIX" : "the list is empty",
                      "fetch it again: aws ec2 describe-spot-price-history");
    }
    return set;
}

Result<TraceSet> import_price_lists(const Node& root, const ImportInput& in) {
    const Node* gap = root.find("gap_seconds");
    std::optional<Seconds> tick = in.options.tick;
    if (gap != nullptr) {
        auto said = seconds_between(*gap);
        if (!said) return said.error();
        tick = *said;
    }
    if (!tick) {
        return refuse(root.where, "the file does not say how far apart its prices are",
                      "a list of prices has no times", "give it: --tick 195s");
    }
    TraceSet set;
    set.format = "prices per tick (JSON)";
    const PathFacts path = facts_of_path(in.file);
    for (const auto& [key, value] : root.members()) {
        const bool single = key == "prices";
        if (!single && root.find("prices") != nullptr) continue;  // gap_seconds, price_info
        auto series = price_list(value, *tick);
        if (!series) return series.error();
        series->name = single ? path.pool : key;
        series->zone = single ? path.zone : zone_of(key);
        series->file = in.file;
        series->first_utc = in.options.first_utc.value_or(0);
        set.prices.push_back(std::move(*series));
    }
    return set;
}

Result<TraceSet> import_gcp_price(const Node& root, const ImportInput& in) {
    const Node& price = *root.find("price");
    const Node* time = root.find("effective_time");
    if (!price.is_numeric() || price.as_number() < 0) return no_price(price.where);
    PriceSeries series;
    series.name =
        fmt::format("{}_{}", root.find("region")->text(), root.find("machine_type")->text());
    series.zone = root.find("region")->text();
    series.file = in.file;
    if (time != nullptr)
        series.first_utc = static_cast<std::int64_t>(parse_time(time->text()).value_or(0));
    append(series.start, series.price, 0.0, price.as_number());
    TraceSet set;
    set.format = "Google Cloud price (JSON)";
    set.prices.push_back(std::move(series));
    return set;
}

namespace {

/// "2/24/2020".
std::optional<double> parse_us_date(std::string_view s) {
    const auto parts = split(s, '/');
    if (parts.size() != 3 || parts[2].size() != 4) return std::nullopt;
    const auto two = [](std::string_view part) {
        return part.size() == 1 ? "0" + std::string(part) : std::string(part);
    };
    return parse_time(fmt::format("{}-{}-{} 00:00:00", parts[2], two(parts[0]), two(parts[1])));
}

}  // namespace

Result<TraceSet> import_azure_prices(const ImportInput& in) {
    auto table = doc::parse_csv(in.text, in.file);
    if (!table) return table.error();
    TraceSet set;
    set.format = "Azure prices (CSV)";
    const std::string zone = facts_of_path(in.file).pool;
    for (const std::string& column : table->header()) {
        if (column == "Date") continue;
        PriceSeries series;
        double first = 0;
        for (std::size_t row = 0; row < table->size(); ++row) {
            const auto day = parse_us_date(table->cell(row, "Date"));
            if (!day) {
                return refuse(table->place(row, "Date"), "no date", "it must look like 2/24/2020",
                              "correct the line");
            }
            if (row > 0 && *day - first <= series.end.base()) {
                return refuse(table->place(row, "Date"), "time does not go on",
                              "the line before is not earlier", "sort the file, drop duplicates");
            }
            if (row == 0) first = *day;
            series.end = (*day - first) * kSecond;
            if (table->cell(row, column).empty()) continue;
            const auto price = parse_price(table->cell(row, column));
            if (!price) return no_price(table->place(row, column));
            append(series.start, series.price, *day - first, *price);
        }
        if (series.price.empty()) continue;
        series.name = fmt::format("{}_{}", zone, column);
        series.zone = zone;
        series.file = in.file;
        series.first_utc = static_cast<std::int64_t>(first);
        set.prices.push_back(std::move(series));
    }
    return set;
}

void attach_prices(TraceSet& traces) {
    for (PoolTrace& pool : traces.pools) {
        if (!pool.price.empty()) continue;
        for (const PriceSeries& series : traces.prices) {
            const Seconds apart =
                series.end > pool.end ? series.end - pool.end : pool.end - series.end;
            if (series.name != pool.pool || apart > pool.tick) continue;
            pool.price_start = series.start;
            pool.price = series.price;
            break;
        }
    }
}

}  // namespace trainyard::spot
