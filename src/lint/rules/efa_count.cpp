// A pod that asks for fewer (or more) EFA interfaces than its instance type has.

#include <fmt/format.h>

#include "found.hpp"

namespace trainyard::lint::efa_count {

namespace {

void judge(const Case& c, const Job& job, const Said& type, Found& found) {
    const catalog::Instance* i = c.instance(type.text);
    if (i == nullptr || i->efa_interfaces == 0 || !job.efa || job.efa->value <= 0) return;
    const bool is_whole = !job.gpus || job.gpus->value >= i->accelerators;
    const auto has = static_cast<std::int64_t>(i->efa_interfaces);
    const Said number{std::to_string(job.efa->value), job.efa->where};
    if (job.efa->value > has) {
        Finding& f = found.at(number, fmt::format("{} has {} EFA interfaces, the pod asks for {}",
                                                  type.text, has, job.efa->value));
        f.severity = Severity::error;
        f.why = "no node can ever have that many: the pod stays Pending for ever";
        f.fix = fmt::format("vpc.amazonaws.com/efa: {}", has);
        f.edits.push_back({number.where, number.text, std::to_string(has)});
    } else if (job.efa->value < has && is_whole && job.is_multi_node()) {
        const double share = static_cast<double>(job.efa->value) / static_cast<double>(has);
        Finding& f = found.at(
            number, fmt::format("{} has {} EFA interfaces, the pod takes the whole node but asks "
                                "for {}: {:.0f} % of the bandwidth",
                                type.text, has, job.efa->value, share * 100));
        f.fix = fmt::format("vpc.amazonaws.com/efa: {}", has);
        f.edits.push_back({number.where, number.text, std::to_string(has)});
    }
}

void find(const Case& c, Found& found) {
    for (const Job& job : c.jobs) {
        const std::vector<Said> types = c.types_of(job);
        if (types.size() == 1) judge(c, job, types.front(), found);
    }
}

}  // namespace

Rule rule() {
    return {.id = "EFA-COUNT",
            .severity = Severity::warning,
            .title = "The pod asks for another number of EFA interfaces than its instance has",
            .applies = "Kubernetes pods",
            .why =
                "NCCL drives only the cards that the pod was given; the others are paid for and "
                "idle, and communication takes as many times longer",
            .fix = "ask for as many as the instance type has",
            .source =
                "awslabs/awsome-distributed-ai 1.architectures/efa-cheatsheet.md; "
                "skypilot-org/skypilot#8391",
            .find = find};
}

}  // namespace trainyard::lint::efa_count
