// Fewer visible devices than processes.

#include <fmt/format.h>

#include <algorithm>

#include "found.hpp"
#include "launch.hpp"

namespace trainyard::lint::launch_visible {

namespace {

void find(const Case& c, Found& found) {
    for (const Launch& l : launches(c)) {
        const EnvVar* v = find_env(l.job->env, "CUDA_VISIBLE_DEVICES");
        if (v == nullptr || v->value.text.empty() || is_open(v->value.text) || !l.processes) {
            continue;
        }
        const auto devices = static_cast<std::int64_t>(
            1 + std::count(v->value.text.begin(), v->value.text.end(), ','));
        if (devices >= l.processes->value) continue;
        found
            .at(Said{v->name, v->value.where},
                fmt::format("{} visible device{} for {} processes per node", devices,
                            devices == 1 ? "" : "s", l.processes->value))
            .related.push_back({l.processes->where, "the processes"});
    }
}

}  // namespace

Rule rule() {
    return {.id = "LAUNCH-VISIBLE",
            .severity = Severity::error,
            .title = "CUDA_VISIBLE_DEVICES names fewer devices than there are processes",
            .applies = "launch lines",
            .why =
                "local rank N takes device N: the last ones fail with \"invalid device ordinal\", "
                "or share a GPU and deadlock",
            .fix = "leave CUDA_VISIBLE_DEVICES to the launcher",
            .source = "CUDA C++ Programming Guide, environment variables",
            .find = find};
}

}  // namespace trainyard::lint::launch_visible
