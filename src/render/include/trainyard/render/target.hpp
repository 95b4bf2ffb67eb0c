#pragma once
// From a recipe to a directory of files for one tool. Pure: no files, no clock, no account.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trainyard/base/result.hpp"
#include "trainyard/render/directory.hpp"
#include "trainyard/render/recipe.hpp"

namespace trainyard::render {

enum class Target {
#define TRAINYARD_TARGET(id, name, summary) id,
#include "trainyard/render/targets.def"
#undef TRAINYARD_TARGET
};

/// What runs the training. fsdp: a script on PyTorch with FSDP2 and DTensor; nxd: NeuronX
/// Distributed on Trainium.
enum class Framework { fsdp, megatron, deepspeed, nxd };

struct TargetInfo {
    Target target;
    std::string_view name;  ///< on the command line
    std::string_view summary;
};
const std::vector<TargetInfo>& targets();
std::string_view to_string(Target t);
std::optional<Target> parse_target(std::string_view s);

std::string_view to_string(Framework f);
std::optional<Framework> parse_framework(std::string_view s);
/// The framework that expresses the recipe's mapping, the simplest first.
Framework default_framework(const Recipe& r);

struct Options {
    std::optional<Framework> framework = {};
    std::optional<std::string> job_name = {};  ///< must be legal for the target, else it is refused
    std::optional<std::string> checkpoint = {};  ///< s3://bucket/prefix
    bool training_plan = false;  ///< SageMaker: a training plan in place of a Capacity Block
    bool openzfs = false;        ///< also an OpenZFS file system for home directories and code
};

/// Refused (ErrorKind::bad_input) with the reason and the nearest target that can: a plan that the
/// target or the framework cannot express, a job name or an S3 address that is none.
Result<Directory> render(Target target, const Recipe& recipe, const Options& options);

}  // namespace trainyard::render
