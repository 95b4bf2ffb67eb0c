// Log of instances that were started and pinged (Training on a Dime, 2020):
//     [2020-03-15T10:07:33.000Z] Created instance i-0ad with 1 GPU(s) of type v100 in zone
//     us-east-1b [2020-03-15T10:21:22.000Z] Instance i-0ad running in zone us-east-1b
//     [2020-03-15T14:02:11.000Z] Instance i-0ad not running in zone us-east-1b
// One pool per zone and type; its value is the number of instances that are up.

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "import_format.hpp"
#include "trainyard/base/text.hpp"

namespace trainyard::spot {

namespace {

class Log {
  public:
    explicit Log(const ImportInput& in) : in_(in) {}

    /// Words of a message without its time.
    void read(double at, const std::vector<std::string_view>& words) {
        now_ = at;
        const std::size_t n = words.size();
        if (n == 12 && words[0] == "Created" && words[6] == "of") {
            created(words[2], words[4], words[8], words[11]);
        } else if (n >= 5 && words[0] == "Instance" && words[2] == "not") {
            set(words[1], false);
        } else if (n >= 5 && words[0] == "Instance" && words[2] == "running") {
            set(words[1], true);
        } else if (n == 4 && words[0] == "Successfully" && words[1] == "deleted") {
            set(words[3], false);
        } else if (words.back() == "failed") {
            ++failed_;
        }
    }

    Result<TraceSet> finish(double first) {
        TraceSet set;
        set.format = "instance log";
        for (auto& [name, pool] : pools_) {
            begin_at_zero(pool);
            pool.end = now_ * kSecond;
            pool.first_utc = static_cast<std::int64_t>(first);
            pool.capacity = *std::max_element(pool.nodes.begin(), pool.nodes.end());
            set.pools.push_back(std::move(pool));
        }
        if (set.pools.empty()) {
            return refuse({std::string(in_.file), 1, 1}, "no instance was ever created", "",
                          "give a log with at least one instance");
        }
        set.notes.push_back(
            note(in_, fmt::format("{} launches failed; waits are not split by zone", failed_),
                 "the log does not name the zone of a failed launch"));
        return set;
    }

  private:
    struct Instance {
        std::string pool;
        bool up = false;
    };

    void created(std::string_view id, std::string_view gpus, std::string_view type,
                 std::string_view zone) {
        std::string name = fmt::format("{}_{}_{}", zone, type, gpus);
        PoolTrace& pool = pools_[name];
        if (pool.pool.empty()) {
            pool.pool = name;
            pool.zone = zone;
            pool.file = in_.file;
            pool.observation = Observation::kept_alive;
        }
        Instance& instance = instances_[std::string(id)];
        if (instance.up) set(id, false);
        instance.pool = std::move(name);
        set(id, true);
    }
    void set(std::string_view id, bool up) {
        const auto it = instances_.find(std::string(id));
        if (it == instances_.end() || it->second.up == up) return;
        it->second.up = up;
        int& count = counts_[it->second.pool];
        count += up ? 1 : -1;
        set_step(pools_[it->second.pool], now_, count);
    }

    const ImportInput& in_;
    std::map<std::string, PoolTrace> pools_;
    std::map<std::string, int> counts_;
    std::map<std::string, Instance> instances_;
    double now_ = 0;
    int failed_ = 0;
};

}  // namespace

Result<TraceSet> import_lifecycle(const ImportInput& in) {
    Log log(in);
    LineReader lines(in.text);
    std::optional<double> first;
    double before = 0;
    while (lines.next()) {
        const std::string_view line = trim(lines.line());
        const std::size_t close = line.find(']');
        const auto time = line.front() == '[' && close != std::string_view::npos
                              ? parse_time(line.substr(1, close - 1))
                              : std::nullopt;
        if (!time) {
            return refuse({std::string(in.file), lines.number(), 1}, "no time stamp",
                          "a line is [2020-03-15T10:07:33.000Z] message", "correct the line");
        }
        if (!first) first = time;
        if (*time < before) {
            return refuse({std::string(in.file), lines.number(), 2}, "time goes back",
                          fmt::format("by {} s", before - *time), "sort the file by time");
        }
        before = *time;
        const std::string_view message = trim(line.substr(close + 1));
        if (!message.empty()) log.read(*time - *first, split(message, ' '));
    }
    return log.finish(first.value_or(0));
}

}  // namespace trainyard::spot
