// A script from the network that is run unseen.

#include <fmt/format.h>

#include "found.hpp"
#include "trainyard/base/text.hpp"

namespace trainyard::lint::boot_curl_sh {

namespace {

bool is_piped_to_shell(std::string_view line) {
    const bool fetches = line.find("curl ") != std::string_view::npos ||
                         line.find("wget ") != std::string_view::npos;
    if (!fetches) return false;
    for (std::size_t at = line.find('|'); at != std::string_view::npos;
         at = line.find('|', at + 1)) {
        std::string_view rest = trim(line.substr(at + 1));
        if (rest.starts_with("sudo ")) rest = trim(rest.substr(5));
        if (rest.starts_with("-E ")) rest = trim(rest.substr(3));
        for (const std::string_view shell : {"bash", "sh", "python", "python3"}) {
            const bool is_word = rest.starts_with(shell) &&
                                 (rest.size() == shell.size() || rest[shell.size()] == ' ' ||
                                  rest[shell.size()] == '\'' || rest[shell.size()] == '"');
            if (is_word) return true;
        }
    }
    return false;
}

void find(const Case& c, Found& found) {
    for (const Document& d : c.documents) {
        if (d.kind != Kind::shell && d.kind != Kind::sbatch && d.kind != Kind::dockerfile) continue;
        int line = d.line;
        for (const std::string_view row : split(d.text, '\n')) {
            const std::string_view text = trim(row);
            if (!text.starts_with('#') && is_piped_to_shell(text)) {
                const auto column = static_cast<int>(text.data() - row.data()) + 1;
                found.at(Location{d.source->path, line, column},
                         "a script is fetched and run in one go");
            }
            ++line;
        }
    }
}

}  // namespace

Rule rule() {
    return {.id = "BOOT-CURL-SH",
            .severity = Severity::note,
            .title = "A script is fetched from the network and run as it is that day",
            .applies = "shell scripts, Dockerfiles",
            .why =
                "a change or an outage at the other end breaks every new node, also those that a "
                "running job waits for; half a download runs, too",
            .fix = "pin a version and check its hash, or bake it into the image",
            .source = "AWS ParallelCluster documentation, custom bootstrap actions",
            .find = find};
}

}  // namespace trainyard::lint::boot_curl_sh
