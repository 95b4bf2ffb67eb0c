// A libfabric provider that is not EFA.

#include "found.hpp"
#include "trainyard/base/text.hpp"

namespace trainyard::lint::efa_provider {

namespace {

void judge(const EnvVar& v, Found& found) {
    if (v.name != "FI_PROVIDER") return;
    if (is_one_of(to_lower(v.value.text),
                  {"tcp", "sockets", "tcp;ofi_rxm", "ofi_rxm;tcp", "verbs"})) {
        found.at(Said{v.name, v.value.where}, "FI_PROVIDER=" + v.value.text + " turns EFA off");
    }
}

void find(const Case& c, Found& found) {
    for (const Job& job : c.jobs) {
        for (const EnvVar& v : job.env) judge(v, found);
    }
    for (const Training& t : c.trainings) {
        for (const EnvVar& v : t.env) judge(v, found);
    }
}

}  // namespace

Rule rule() {
    return {.id = "EFA-PROVIDER",
            .severity = Severity::error,
            .title = "FI_PROVIDER names another provider than efa",
            .applies = "every environment: pods, SageMaker, scripts, Dockerfiles",
            .why =
                "NCCL's plugin then runs over TCP through libfabric: slower than plain "
                "sockets",
            .fix = "remove FI_PROVIDER, or set it to efa",
            .source = "awslabs/awsome-distributed-ai 1.architectures/efa-cheatsheet.md",
            .find = find};
}

}  // namespace trainyard::lint::efa_provider
