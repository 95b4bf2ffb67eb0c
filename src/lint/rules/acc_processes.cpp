// Processes of Accelerate that are no multiple of its machines.

#include <fmt/format.h>

#include "found.hpp"
#include "launch.hpp"

namespace trainyard::lint::acc_processes {

namespace {

void find(const Case& c, Found& found) {
    for (const Document* d : c.of_kind(Kind::accelerate)) {
        const auto machines = count(&d->root, {"num_machines"});
        const auto processes = count(&d->root, {"num_processes"});
        if (!machines || !processes || machines->value <= 1 || processes->value <= 0) continue;
        const Said place{std::to_string(processes->value), processes->where};
        if (processes->value % machines->value != 0) {
            found.at(place, fmt::format("{} processes do not divide over {} machines",
                                        processes->value, machines->value));
            continue;
        }
        const Said type = only_type(c);
        const catalog::Instance* i = type ? c.instance(type.text) : nullptr;
        const std::int64_t each = processes->value / machines->value;
        const auto gpus = i == nullptr ? 8 : static_cast<std::int64_t>(i->accelerators);
        if (each >= gpus || (i == nullptr && each != 1 && processes->value != 8)) continue;
        Finding& f = found.at(
            place,
            fmt::format("{} processes on {} machines are {} on each{}", processes->value,
                        machines->value, each,
                        i == nullptr ? std::string()
                                     : fmt::format(", {} has {} accelerators", type.text, gpus)));
        f.severity = i == nullptr ? Severity::note : Severity::warning;
        f.fix = fmt::format("num_processes: {}", machines->value * gpus);
    }
}

}  // namespace

Rule rule() {
    return {.id = "ACC-PROCESSES",
            .severity = Severity::error,
            .title = "num_processes is the total, not the number per machine",
            .applies = "Accelerate configurations",
            .why =
                "with fewer processes than GPUs most devices stay idle while they are paid; a "
                "number that does not divide is refused",
            .fix = "num_processes: machines x GPUs per machine",
            .source = "Hugging Face Accelerate documentation, configuration",
            .find = find};
}

}  // namespace trainyard::lint::acc_processes
