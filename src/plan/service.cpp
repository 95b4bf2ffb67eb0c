#include "trainyard/plan/service.hpp"

#include "trainyard/base/contract.hpp"
#include "trainyard/base/text.hpp"

namespace trainyard::plan {
namespace {

/// One fact of a rule, e.g. "single_node" or "people<=2".
bool holds(std::string_view fact, const ServiceFacts& f) {
    if (fact == "single_node") return f.nodes == 1;
    if (fact == "multi_node") return f.nodes > 1;
    if (fact == "single_device") return f.devices == 1 || f.copies > 1;
    if (fact == "copies") return f.copies > 1;
    if (fact == "outside_cheaper") return f.outside_cheaper;
    if (fact == "kubernetes") return f.team.kubernetes;
    if (fact == "slurm") return f.team.slurm;
    if (fact == "managed") return f.team.managed;
    if (fact.starts_with("people<=")) {
        const auto limit = parse_number(fact.substr(8));
        return limit && f.team.people > 0 && f.team.people <= *limit;
    }
    if (fact.starts_with("nodes>=")) {
        const auto limit = parse_number(fact.substr(7));
        return limit && f.nodes >= *limit;
    }
    return false;
}

std::string fill(std::string text, const ServiceFacts& f) {
    const auto put = [&text](std::string_view name, const std::string& value) {
        const std::size_t at = text.find(name);
        if (at != std::string::npos) text.replace(at, name.size(), value);
    };
    put("{nodes}", std::to_string(f.nodes));
    put("{people}", std::to_string(f.team.people));
    put("{copies}", std::to_string(f.copies));
    put("{uplift}", format_fixed(f.uplift * 100, 0) + " %");
    put("{saving}", format_fixed(f.outside_saving * 100, 0) + " %");
    return text;
}

}  // namespace

ServiceChoice choose_service(const ServiceFacts& facts, const Assumptions& a) {
    for (const ServiceRule& rule : a.services()) {
        bool all = true;
        for (std::string_view fact : split(rule.when, '&')) all = all && holds(trim(fact), facts);
        if (all) return {rule.service, rule.id, fill(rule.because, facts), rule.source};
    }
    TRAINYARD_ASSERT(false, "data/plan/services.csv ends with rules for one node and for several");
    return {};
}

}  // namespace trainyard::plan
