// Names that ParallelCluster refuses.

#include <fmt/format.h>

#include "found.hpp"
#include "trainyard/base/text.hpp"

namespace trainyard::lint::pc_name {

namespace {

bool is_good(std::string_view name) {
    const bool starts_well = !name.empty() && name[0] >= 'a' && name[0] <= 'z';
    return starts_well && name.size() <= 25 && name != "default" &&
           name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-") ==
               std::string_view::npos;
}

void find(const Case& c, Found& found) {
    for (const Document* d : c.of_kind(Kind::parallelcluster)) {
        for (const doc::Node* q : each(get(&d->root, {"Scheduling", "SlurmQueues"}))) {
            std::vector<Said> names = {said(q, {"Name"})};
            for (const doc::Node* r : each(get(q, "ComputeResources"))) {
                names.push_back(said(r, {"Name"}));
            }
            for (const Said& n : names) {
                if (!n || is_open(n.text) || is_good(n.text)) continue;
                found.at(n, fmt::format("\"{}\" is no name for a queue or a compute resource",
                                        printable(n.text, 60)));
            }
        }
    }
}

}  // namespace

Rule rule() {
    return {.id = "PC-NAME",
            .severity = Severity::error,
            .title = "A queue or compute resource name that ParallelCluster refuses",
            .applies = "ParallelCluster",
            .why = "the configuration is refused",
            .fix =
                "lower-case letters, digits and hyphens, begin with a letter, at most "
                "25",
            .source = "aws/aws-parallelcluster cli/src/pcluster/validators, NameValidator",
            .find = find};
}

}  // namespace trainyard::lint::pc_name
