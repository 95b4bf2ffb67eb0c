#include "event_log.hpp"

#include <algorithm>

#include "trainyard/doc/node.hpp"
#include "trainyard/store/manifest.hpp"
#include "trainyard/sys/child.hpp"

namespace trainyard::agent {

void EventLog::write(const action::Say& said, int attempt) {
    static constexpr const char* kLevels[] = {"info", "warning", "alarm"};
    constexpr std::int64_t kSecondNs = 1'000'000'000;
    doc::Node line = doc::Node::map();
    line.set("time", store::format_time(env_.now_ns() / kSecondNs));
    line.set("event", said.event);
    line.set("level", kLevels[static_cast<std::size_t>(said.level)]);
    line.set("attempt", attempt);
    if (said.step >= 0) line.set("step", said.step);
    line.set("text", said.text);
    std::string text = doc::write_json(line);
    // One line: the writer breaks lines only between members, never inside a string.
    std::string flat;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '\n') {
            flat += text[i];
            continue;
        }
        while (i + 1 < text.size() && text[i + 1] == ' ') ++i;
        if (flat.ends_with(',')) flat += ' ';
    }
    (void)sys::append_line(path_, flat);
}

}  // namespace trainyard::agent
