// Spot without a place for checkpoints.

#include "found.hpp"

namespace trainyard::lint::ckpt_spot {

namespace {

void find(const Case& c, Found& found) {
    for (const Training& t : c.trainings) {
        if (!t.is_spot() || t.checkpoint_uri || t.is_open) continue;
        const std::int64_t nodes = t.count ? t.count->value : 1;
        Finding& f = found.at(t.spot.where,
                              "managed spot training without a checkpoint location: an "
                              "interruption restarts from scratch");
        f.waste = price_of(c, t.type.text, nodes);
    }
}

}  // namespace

Rule rule() {
    return {.id = "CKPT-SPOT",
            .severity = Severity::error,
            .title = "Spot training without checkpoints",
            .applies = "SageMaker jobs",
            .why =
                "every interruption throws the run back to step 0: all hours so far are"
                " paid again",
            .fix =
                "CheckpointConfig.S3Uri (checkpoint_s3_uri), and a script that saves to"
                " /opt/ml/checkpoints and resumes from there",
            .source =
                "SageMaker documentation, managed spot training; aws/sagemaker-python-"
                "sdk#1040",
            .find = find};
}

}  // namespace trainyard::lint::ckpt_spot
