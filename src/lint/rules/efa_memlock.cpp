// A container with EFA devices and the default limit on locked memory.

#include <algorithm>

#include "found.hpp"

namespace trainyard::lint::efa_memlock {

namespace {

bool uses_efa(const Job& job) {
    if (env_value(job.env, "FI_PROVIDER").is("efa")) return true;
    return std::any_of(job.words.begin(), job.words.end(), [](const Said& w) {
        return w.text.find("/dev/infiniband") != std::string::npos;
    });
}

void find(const Case& c, Found& found) {
    for (const Job& job : c.jobs) {
        if (job.form != Job::Form::docker || !uses_efa(job)) continue;
        const bool is_free = std::any_of(job.words.begin(), job.words.end(), [](const Said& w) {
            return contains(w.text, "memlock") || w.is("--privileged");
        });
        if (is_free) continue;
        found.at(job.words.front(), "this container gets EFA devices but no --ulimit memlock=-1");
    }
}

}  // namespace

Rule rule() {
    return {.id = "EFA-MEMLOCK",
            .severity = Severity::error,
            .title = "docker run with EFA devices but without --ulimit memlock=-1",
            .applies = "docker run lines in scripts",
            .why =
                "EFA registers its buffers as locked memory; under the default limit "
                "the endpoint cannot be created and NCCL stops or falls back to TCP",
            .fix = "add --ulimit memlock=-1 --ulimit stack=67108864",
            .source = "aws/aws-ofi-nccl#107",
            .find = find};
}

}  // namespace trainyard::lint::efa_memlock
