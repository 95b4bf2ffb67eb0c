// Cuts a trace into up and down times of a gang.

#include <algorithm>
#include <map>

#include "trainyard/spot/fit.hpp"

namespace trainyard::spot {

UpDown lives_of(const PoolTrace& trace, int gang) {
    UpDown out;
    std::optional<bool> state;
    double since = 0;
    const auto close = [&](double until, bool ended) {
        const Life life{since * kSecond, (until - since) * kSecond, ended, since == 0};
        if (life.time > Seconds{}) (*state ? out.up : out.down).push_back(life);
    };
    for (std::size_t i = 0; i < trace.start.size(); ++i) {
        const bool up = trace.nodes[i] >= gang;
        if (state == up) continue;
        if (state) close(trace.start[i], true);
        state = up;
        since = trace.start[i];
    }
    if (state) close(trace.end.base(), false);
    return out;
}

int usual_gang(const PoolTrace& trace) {
    if (trace.observation != Observation::events) return std::max(1, trace.capacity);
    std::map<int, double, std::greater<>> time_at;
    for (std::size_t i = 0; i < trace.start.size(); ++i) {
        const double end = i + 1 < trace.start.size() ? trace.start[i + 1] : trace.end.base();
        time_at[trace.nodes[i]] += end - trace.start[i];
    }
    double seen = 0;
    for (const auto& [nodes, time] : time_at) {
        seen += time;
        if (2 * seen >= trace.end.base()) return std::max(1, nodes);
    }
    return std::max(1, trace.capacity);
}

}  // namespace trainyard::spot
