// Spot without a place for checkpoints.

#include <algorithm>

#include "facts.hpp"
#include "found.hpp"

namespace trainyard::lint::ckpt_spot {

namespace {

/// A training script on a spot queue of ParallelCluster that shows no checkpoint.
void check_scripts(const Case& c, Found& found) {
    const auto saves = [](const Said& w) {
        return contains(w.text, "ckpt") || contains(w.text, "checkpoint") ||
               contains(w.text, "resume") || contains(w.text, "--save") ||
               contains(w.text, "output_dir") || contains(w.text, "output-dir");
    };
    for (const Job& job : c.jobs) {
        if (job.form != Job::Form::sbatch || !job.is_training) continue;
        if (job.document->kind != Kind::sbatch) continue;
        if (facts::checkpoint_dir(job.words) ||
            std::any_of(job.words.begin(), job.words.end(), saves) ||
            contains(job.document->text, "checkpoint")) {
            continue;
        }
        const Pool* spot =
            facts::spot_queue(c, env_value(job.document->script.directives, "partition").text);
        if (spot == nullptr) continue;
        Finding& f = found.at(job.where, "training on spot nodes that shows no checkpoint");
        f.severity = Severity::warning;  // the program may save on its own
        f.fix = "save to shared storage at an interval, and resume from it";
        f.related.push_back({spot->where, "the spot nodes"});
        if (!spot->types.empty()) {
            f.waste = price_of(c, spot->types.front().text, job.nodes ? job.nodes->value : 1);
        }
    }
}

void find(const Case& c, Found& found) {
    check_scripts(c, found);
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
