// Traffic between nodes goes over TCP, not EFA.

#include "log_symptom.hpp"

namespace trainyard::lint::log_tcp {

namespace {

void find(const Case& c, Found& found) {
    report_symptoms(c, "NCCL-TCP", found, [&c](const nccl::Symptom& s, Finding& f) {
        f.efficiency_lost = lost_over_tcp(c, s.instance, s.nodes);
        f.waste = price_of(c, s.instance, s.nodes);
        if (f.waste && f.efficiency_lost) *f.waste *= *f.efficiency_lost;
    });
}

}  // namespace

Rule rule() {
    return {.id = "NCCL-TCP",
            .severity = Severity::error,
            .title = "Traffic between nodes goes over TCP, not EFA",
            .applies = "logs of NCCL",
            .why =
                "the nodes are paid for a fabric that is not used: communication takes many times "
                "longer",
            .fix = "install aws-ofi-nccl and give the job its EFA interfaces",
            .source = "docs/reference/doctor.md",
            .find = find};
}

}  // namespace trainyard::lint::log_tcp
