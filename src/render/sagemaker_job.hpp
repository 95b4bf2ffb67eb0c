#pragma once
// Inside the SageMaker target: what one run asks for, and the two forms in which it is written, the
// body of CreateTrainingJob and a script on the Python SDK. Both say the same.

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "launch.hpp"
#include "storage.hpp"
#include "trainyard/doc/node.hpp"
#include "trainyard/render/recipe.hpp"

namespace trainyard::render {

/// Times are whole seconds, as the service takes them.
struct SageMakerJob {
    std::string name;  ///< without the mark of a part
    Addresses at;
    std::string instance_type;  ///< "ml.p5.48xlarge"
    std::string image;
    std::string role_arn;
    int parts = 1;  ///< jobs one after the other, each resuming from the checkpoint
    std::int64_t max_runtime_s = 0;
    std::optional<std::int64_t> max_wait_s;   ///< managed spot only
    std::optional<std::int64_t> warm_pool_s;  ///< never with spot or a training plan
    std::int64_t volume_gb = 0;
    std::optional<std::string> training_plan_arn;
    std::vector<std::pair<std::string, std::string>> environment;
};

inline constexpr const char* kSageMakerCode = "/opt/ml/input/data/code";
inline constexpr const char* kSageMakerData = "/opt/ml/input/data/training";
inline constexpr const char* kSageMakerCheckpoints = "/opt/ml/checkpoints";

/// Body of CreateTrainingJob for part 1, 2, ….
doc::Node training_job_request(const Recipe& recipe, const SageMakerJob& job, int part);
/// "name", or "name-part-2" where there are several.
std::string part_name(const SageMakerJob& job, int part);

/// launch.py
std::string sdk_script(const Recipe& recipe, const SageMakerJob& job);
/// code/run.sh, the container's entry point on every instance.
std::string container_script(const Recipe& recipe, const Launch& launch);

}  // namespace trainyard::render
