// A pod that asks for fewer (or more) EFA interfaces than its instance type has.

#include <fmt/format.h>

#include <algorithm>

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

/// A launch template or an instance with fewer EFA interfaces than its type has.
void judge_template(const Case& c, const Pool& p, Found& found) {
    const bool is_template =
        p.form == Pool::Form::launch_template || p.form == Pool::Form::instance;
    if (!is_template || p.types.size() != 1 || p.nics.size() < 2) return;
    const catalog::Instance* i = c.instance(p.types.front().text);
    if (i == nullptr || i->accelerator.empty()) return;
    const auto efa =
        std::count_if(p.nics.begin(), p.nics.end(), [](const Nic& n) { return n.is_efa(); });
    const auto has = static_cast<std::ptrdiff_t>(i->efa_interfaces);
    const bool is_wrong = std::any_of(p.nics.begin(), p.nics.end(), [&](const Nic& n) {
        return n.card && n.card->value >= i->network_cards.value_or(1 << 20);  // EFA-NIC-LAYOUT
    });
    if (efa == 0 || efa >= has || is_wrong) return;
    const double share = static_cast<double>(efa) / static_cast<double>(has);
    found
        .at(p.nics.front().where,
            fmt::format("{} has {} EFA interfaces, here are {}: {:.0f} % of the bandwidth", i->type,
                        has, efa, share * 100))
        .fix = fmt::format("one EFA interface on each of the {} cards", has);
}

void find(const Case& c, Found& found) {
    for (const Pool& p : c.pools) judge_template(c, p, found);
    for (const Job& job : c.jobs) {
        const std::vector<Said> types = c.types_of(job);
        if (types.size() == 1) judge(c, job, types.front(), found);
    }
}

}  // namespace

Rule rule() {
    return {.id = "EFA-COUNT",
            .severity = Severity::warning,
            .title = "Another number of EFA interfaces than the instance has",
            .applies = "Kubernetes pods, EC2 launch templates and instances",
            .why =
                "NCCL drives only the cards that it was given; the others are paid for and "
                "idle, and communication takes as many times longer",
            .fix = "ask for as many as the instance type has",
            .source =
                "awslabs/awsome-distributed-ai 1.architectures/efa-cheatsheet.md; "
                "skypilot-org/skypilot#8391",
            .find = find};
}

}  // namespace trainyard::lint::efa_count
