// Checkpoints written where nothing syncs them.

#include <fmt/format.h>

#include "found.hpp"

namespace trainyard::lint::ckpt_path {

namespace {

void find(const Case& c, Found& found) {
    for (const Training& t : c.trainings) {
        if (!t.checkpoint_uri) continue;
        const std::string synced =
            t.checkpoint_path ? t.checkpoint_path.text : "/opt/ml/checkpoints";
        for (const EnvVar& v : t.hyperparameters) {
            std::string name = v.name;
            std::replace(name.begin(), name.end(), '-', '_');
            const bool is_dir = is_one_of(name, {"output_dir", "checkpoint_dir", "ckpt_dir",
                                                 "checkpoint_path", "save_dir", "save"});
            const bool is_local = v.value.text.starts_with("/");
            if (!is_dir || !is_local || v.value.text.starts_with(synced)) continue;
            if (v.value.text.starts_with("/opt/ml/input/data")) continue;  // a mounted file system
            found.at(Said{v.name + ": " + v.value.text, v.value.where},
                     fmt::format("checkpoints go to {}, but {} is what is synced", v.value.text,
                                 synced));
        }
    }
}

}  // namespace

Rule rule() {
    return {.id = "CKPT-PATH",
            .severity = Severity::error,
            .title = "Checkpoints go to another directory than the one that is synced",
            .applies = "SageMaker jobs",
            .why =
                "only CheckpointConfig.LocalPath (/opt/ml/checkpoints) is copied to S3 "
                "while the job runs; /opt/ml/model is packed once, at the end: after an"
                " interruption there is nothing to resume from",
            .fix =
                "write checkpoints to the LocalPath, and only the final model to "
                "/opt/ml/model",
            .source = "SageMaker documentation, checkpoints; huggingface/notebooks#138",
            .find = find};
}

}  // namespace trainyard::lint::ckpt_path
