// EFA switched on for a type that has none.

#include <fmt/format.h>

#include "facts.hpp"
#include "found.hpp"

namespace trainyard::lint::efa_unsupported_type {

namespace {

/// The smallest size of the family that has EFA.
std::string with_efa(const Case& c, const catalog::Instance& i) {
    for (const catalog::Instance& other : c.catalog->instances()) {
        if (other.family == i.family && other.efa == catalog::Yes::yes) return other.type;
    }
    return {};
}

void report(const Case& c, const catalog::Instance& i, const Said& at, std::string_view how,
            Found& found) {
    const std::string other = with_efa(c, i);
    Finding& f = found.at(at, fmt::format("{} has no EFA, {}", i.type, how));
    f.fix = other.empty() ? fmt::format(
                                "no size of {} has EFA: take another family, or switch EFA "
                                "off",
                                i.family)
                          : fmt::format("take {} or larger, or switch EFA off", other);
}

void find(const Case& c, Found& found) {
    for (const Pool& p : c.pools) {
        if (!p.efa) continue;
        for (const Said& t : p.types) {
            const catalog::Instance* i = c.instance(t.text);
            if (i != nullptr && i->efa == catalog::Yes::no) {
                report(c, *i, p.efa, "but EFA is switched on", found);
                break;
            }
        }
    }
    for (const Job& job : c.jobs) {
        const EnvVar* provider = find_env(job.env, "FI_PROVIDER");
        const catalog::Instance* i = facts::only(c, c.types_of(job));
        if (i == nullptr || i->efa != catalog::Yes::no) continue;
        if (job.efa && job.efa->value > 0) {
            report(c, *i, {"vpc.amazonaws.com/efa", job.efa->where}, "but the pod asks for it",
                   found);
        } else if (provider != nullptr && provider->value.is("efa")) {
            report(c, *i, {"FI_PROVIDER", provider->value.where}, "but FI_PROVIDER=efa forces it",
                   found);
        }
    }
    for (const Training& t : c.trainings) {
        const EnvVar* provider = find_env(t.env, "FI_PROVIDER");
        const catalog::Instance* i = c.instance(t.type.text);
        if (i != nullptr && i->efa == catalog::Yes::no && provider != nullptr &&
            provider->value.is("efa")) {
            report(c, *i, {"FI_PROVIDER", provider->value.where}, "but FI_PROVIDER=efa forces it",
                   found);
        }
    }
}

}  // namespace

Rule rule() {
    return {.id = "EFA-UNSUPPORTED-TYPE",
            .severity = Severity::error,
            .title = "EFA on an instance type without EFA",
            .applies =
                "ParallelCluster, eksctl, Terraform, EC2 templates, pods and jobs that "
                "force the provider",
            .why =
                "the cluster or the launch is refused, or NCCL stops at start because "
                "the provider it is told to use is not there",
            .fix = "take a size of the family that has EFA, or switch EFA off",
            .source = "data/catalog/instances.csv (efa); aws/deep-learning-containers#2675",
            .find = find};
}

}  // namespace trainyard::lint::efa_unsupported_type
