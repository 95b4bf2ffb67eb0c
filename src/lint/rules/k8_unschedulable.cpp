// More than a node has.

#include <fmt/format.h>

#include "facts.hpp"
#include "found.hpp"
#include "trainyard/base/text.hpp"

namespace trainyard::lint::k8_unschedulable {

namespace {

std::optional<double> cores(std::string_view text) {
    if (text.ends_with('m')) {
        const auto milli = parse_number(text.substr(0, text.size() - 1));
        return milli ? std::optional(*milli / 1000) : std::nullopt;
    }
    return parse_number(text);
}

void judge(const Job& job, const catalog::Instance& i, Found& found) {
    for (const auto& [name, value] : job.resources->members()) {
        const Said amount = said(&value);
        double has = 0;
        std::optional<double> asked;
        if (name == "nvidia.com/gpu" || name == "aws.amazon.com/neuron") {
            asked = parse_number(amount.text);
            has = i.accelerators;
        } else if (name == "cpu") {
            asked = cores(amount.text);
            has = i.vcpu;
        } else if (name == "memory") {
            asked = facts::gibibytes(amount.text);
            has = i.memory / kGiB;
        }
        // The node keeps a part of its cores and memory: all of them is more than it gives.
        const bool is_kept = name == "cpu" || name == "memory";
        if (!asked || has <= 0 || *asked < has || (*asked == has && !is_kept)) continue;
        found.at(amount, fmt::format("{}: {} on {}, which has {:g}{}{}", name, amount.text, i.type,
                                     has, name == "memory" ? " GiB" : "",
                                     *asked == has ? " and keeps a part for itself" : ""));
    }
}

void find(const Case& c, Found& found) {
    for (const Job& job : c.jobs) {
        const catalog::Instance* i = facts::only(c, c.types_of(job));
        if (job.form == Job::Form::pod && i != nullptr && job.resources != nullptr) {
            judge(job, *i, found);
        }
    }
}

}  // namespace

Rule rule() {
    return {.id = "K8-UNSCHEDULABLE",
            .severity = Severity::error,
            .title = "The pod asks for more than the instance type has",
            .applies = "Kubernetes pods",
            .why = "no node can ever hold it: the pod stays Pending for ever",
            .fix = "ask for at most what the node can allocate",
            .source = "data/catalog/instances.csv",
            .find = find};
}

}  // namespace trainyard::lint::k8_unschedulable
