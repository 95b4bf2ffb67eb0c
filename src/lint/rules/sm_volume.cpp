// A disk that is too small, or ignored.

#include <fmt/format.h>

#include "found.hpp"

namespace trainyard::lint::sm_volume {

namespace {

void find(const Case& c, Found& found) {
    for (const Training& t : c.trainings) {
        const catalog::Instance* i = c.instance(t.type.text);
        if (i == nullptr || i->accelerator.empty() || !t.volume_gb) continue;
        const Said at{std::to_string(t.volume_gb->value), t.volume_gb->where};
        if (i->local_nvme && *i->local_nvme > Bytes{}) continue;  // the volume is ignored there
        if (t.volume_gb->value >= 50) continue;
        found.at(at, fmt::format("{} GB on {}, which has no local disk", t.volume_gb->value,
                                 t.type.text));
    }
}

}  // namespace

Rule rule() {
    return {.id = "SM-VOLUME",
            .severity = Severity::warning,
            .title = "A storage volume that is too small for the model and its data",
            .applies = "SageMaker jobs on types without local NVMe",
            .why =
                "the job fails with no space left when data, image layers and "
                "checkpoints come together, after its start-up was billed",
            .fix = "at least 200 GB, or a type with NVMe",
            .source = "SageMaker API, VolumeSizeInGB (30 GB is the SDK's default)",
            .find = find};
}

}  // namespace trainyard::lint::sm_volume
