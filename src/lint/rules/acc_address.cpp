// Several machines of Accelerate that meet at localhost.

#include <fmt/format.h>

#include "found.hpp"
#include "launch.hpp"

namespace trainyard::lint::acc_address {

namespace {

bool is_on_command_line(const Case& c) {
    for (const Launch& l : launches(c)) {
        if (l.launcher == "accelerate" && has_option(l.words, "main-process-ip")) return true;
    }
    return false;
}

void find(const Case& c, Found& found) {
    const bool is_given = is_on_command_line(c);
    for (const Document* d : c.of_kind(Kind::accelerate)) {
        const auto machines = count(&d->root, {"num_machines"});
        if (!machines || machines->value <= 1 || is_given) continue;
        const Said address = said(&d->root, {"main_process_ip"});
        const Said place{std::to_string(machines->value), machines->where};
        if (is_one_of(address.text, {"localhost", "127.0.0.1", "0.0.0.0"})) {
            found.at(address, fmt::format("{} machines meet at {}, which is each machine itself",
                                          machines->value, address.text));
        } else if (!address) {
            found.at(place, fmt::format("{} machines without main_process_ip", machines->value))
                .severity = Severity::warning;
        }
    }
}

}  // namespace

Rule rule() {
    return {.id = "ACC-ADDRESS",
            .severity = Severity::error,
            .title = "Several machines without the address of the first one",
            .applies = "Accelerate configurations",
            .why = "each machine waits for itself until the time-out while all are paid",
            .fix =
                "main_process_ip: the address of the first machine, or --main_process_ip=$HEAD on "
                "the command line",
            .source = "Hugging Face Accelerate documentation, configuration",
            .find = find};
}

}  // namespace trainyard::lint::acc_address
