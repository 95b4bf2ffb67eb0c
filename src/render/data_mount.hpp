#pragma once
// The training data where the plan reads it from S3 without a copy: mounted on a node by Mountpoint
// for Amazon S3. Pods have a CSI driver for it, SageMaker has FastFile.

#include <string>

#include "storage.hpp"
#include "trainyard/render/recipe.hpp"

namespace trainyard::render {

inline constexpr const char* kDataMount = "/data";

/// Shell text for root on Ubuntu; nothing unless the plan's data stays in S3.
std::string mount_data(const Recipe& recipe, const Addresses& at);

}  // namespace trainyard::render
