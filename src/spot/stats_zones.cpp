// Zones side by side: integrals over time of piecewise constant series, exact.

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "trainyard/spot/stats.hpp"

namespace trainyard::spot {

namespace {

std::string folder_of(const std::string& file) {
    const std::size_t slash = file.rfind('/');
    return slash == std::string::npos ? "" : file.substr(0, slash);
}

/// Walks through several traces at once, from change to change.
class Walk {
  public:
    Walk(const std::vector<const PoolTrace*>& pools, double end)
        : pools_(pools), at_(pools.size(), 0), end_(end) {}

    int nodes(std::size_t pool) const { return pools_[pool]->nodes[at_[pool]]; }
    /// Length of the stretch from here to the next change of any; 0 at the end.
    double step() {
        double next = end_;
        for (std::size_t p = 0; p < pools_.size(); ++p) {
            const auto& start = pools_[p]->start;
            if (at_[p] + 1 < start.size()) next = std::min(next, start[at_[p] + 1]);
        }
        return next - now_;
    }
    void advance(double length) {
        now_ += length;
        for (std::size_t p = 0; p < pools_.size(); ++p) {
            const auto& start = pools_[p]->start;
            while (at_[p] + 1 < start.size() && start[at_[p] + 1] <= now_) ++at_[p];
        }
    }

  private:
    const std::vector<const PoolTrace*>& pools_;
    std::vector<std::size_t> at_;
    double now_ = 0;
    double end_;
};

struct Moments {
    double x = 0, y = 0, xx = 0, yy = 0, xy = 0, time = 0;
};

double pearson(const Moments& m) {
    const double x = m.x / m.time;
    const double y = m.y / m.time;
    const double var_x = m.xx / m.time - x * x;
    const double var_y = m.yy / m.time - y * y;
    if (!(var_x > 1e-12) || !(var_y > 1e-12)) return std::numeric_limits<double>::quiet_NaN();
    return (m.xy / m.time - x * y) / std::sqrt(var_x * var_y);
}

double correlation(const PoolTrace& a, const PoolTrace& b) {
    const std::vector<const PoolTrace*> both = {&a, &b};
    Walk walk(both, std::min(a.end, b.end).base());
    Moments m;
    for (double length = walk.step(); length > 0; length = walk.step()) {
        const double x = walk.nodes(0);
        const double y = walk.nodes(1);
        m.x += x * length;
        m.y += y * length;
        m.xx += x * x * length;
        m.yy += y * y * length;
        m.xy += x * y * length;
        m.time += length;
        walk.advance(length);
    }
    return m.time > 0 ? pearson(m) : std::numeric_limits<double>::quiet_NaN();
}

void joint_shares(const std::vector<const PoolTrace*>& pools, int gang, ZoneGroup& group) {
    Walk walk(pools, group.length.base());
    std::vector<double> up(pools.size(), 0);
    double any = 0;
    double all = 0;
    for (double length = walk.step(); length > 0; length = walk.step()) {
        std::size_t count = 0;
        for (std::size_t p = 0; p < pools.size(); ++p) {
            if (walk.nodes(p) < (gang > 0 ? gang : usual_gang(*pools[p]))) continue;
            ++count;
            up[p] += length;
        }
        if (count > 0) any += length;
        if (count == pools.size()) all += length;
        walk.advance(length);
    }
    const double time = group.length.base();
    group.any_up = any / time;
    group.all_up = all / time;
    double none = 1;
    for (double u : up) none *= 1 - u / time;
    group.any_up_if_independent = 1 - none;
}

}  // namespace

std::vector<ZoneGroup> zone_groups(const std::vector<PoolTrace>& pools, int gang) {
    std::map<std::string, std::vector<std::size_t>> folders;
    for (std::size_t i = 0; i < pools.size(); ++i) {
        // Event files were recorded each at its own time.
        const bool own = pools[i].observation == Observation::events;
        folders[own ? pools[i].file : folder_of(pools[i].file)].push_back(i);
    }
    std::vector<ZoneGroup> groups;
    for (const auto& [folder, indexes] : folders) {
        if (indexes.size() < 2) continue;
        ZoneGroup group;
        group.pools = indexes;
        std::vector<const PoolTrace*> members;
        for (std::size_t i : indexes) members.push_back(&pools[i]);
        group.length = members[0]->end;
        for (const PoolTrace* pool : members) group.length = std::min(group.length, pool->end);
        if (group.length <= Seconds{}) continue;
        for (const PoolTrace* a : members) {
            auto& row = group.correlation.emplace_back();
            for (const PoolTrace* b : members) row.push_back(a == b ? 1 : correlation(*a, *b));
        }
        joint_shares(members, gang, group);
        groups.push_back(std::move(group));
    }
    return groups;
}

}  // namespace trainyard::spot
