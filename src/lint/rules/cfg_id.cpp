// Ids that AWS cannot have given.

#include <fmt/format.h>

#include "found.hpp"

namespace trainyard::lint::cfg_id {

namespace {

bool is_id(std::string_view text, std::string_view prefix) {
    const std::string_view rest = text.substr(prefix.size());
    const bool is_long = rest.size() == 8 || rest.size() == 17;
    return is_long && rest.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

void judge(const Said& id, Found& found) {
    for (const std::string_view prefix : {"subnet-", "sg-", "cr-", "fs-", "ami-", "vpc-"}) {
        if (!id.text.starts_with(prefix) || is_open(id.text) || is_id(id.text, prefix)) continue;
        found.at(id, fmt::format("\"{}\" is no id: after {} come 8 or 17 hexadecimal digits",
                                 id.text, prefix));
    }
}

void walk(const doc::Node& node, Found& found) {
    for (const auto& [key, value] : node.members()) {
        const bool is_id_key = key.ends_with("Id") || key.ends_with("Ids") || key == "id" ||
                               key.ends_with("SecurityGroups");
        if (is_id_key) {
            for (const Said& id : all_said(&value)) judge(id, found);
        }
        if (value.is(doc::Node::Kind::map)) walk(value, found);
        for (const doc::Node& item : value.items()) walk(item, found);
    }
}

void find(const Case& c, Found& found) {
    for (const Document& d : c.documents) {
        const bool is_class = d.kind == Kind::kubernetes && d.object_kind == "EC2NodeClass";
        if (d.kind == Kind::parallelcluster || is_class) walk(d.root, found);
    }
}

}  // namespace

Rule rule() {
    return {.id = "CFG-ID",
            .severity = Severity::error,
            .title = "An id that is no id of AWS",
            .applies = "ParallelCluster, Karpenter",
            .why = "a left-over example: the configuration is refused",
            .fix = "put the real id in",
            .source = "EC2 API reference, id patterns",
            .find = find};
}

}  // namespace trainyard::lint::cfg_id
