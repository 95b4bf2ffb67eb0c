#pragma once
// Inside the module: data/render/limits.csv and images.csv, compiled in. A row that is missing is a
// mistake of ours, so a broken contract.

#include <string>
#include <string_view>

#include "trainyard/catalog/catalog.hpp"

namespace trainyard::render {

/// The number of a row, in the row's own unit.
double limit(std::string_view key);

/// Capacity Blocks are sold by the day up to two weeks and by the week up to half a year.
bool is_block_length(int days);

struct Image {
    std::string value;  ///< empty: nothing current serves this family, the user fills it in
    std::string bin;    ///< directory of its Python; empty: on the PATH
    std::string note;
    catalog::Provenance provenance;
};
/// key: "ami" or "container".
Image image(std::string_view key, const catalog::Instance& instance, bool trainium,
            std::string_view region);

/// Does SageMaker run training jobs on the type, and does it sell the type as a training plan?
struct SageMakerType {
    bool training_job = false;
    bool training_plan = false;
};
SageMakerType sagemaker_type(std::string_view instance_type);
/// Can a HyperPod cluster have the type?
bool hyperpod_has(std::string_view instance_type);

}  // namespace trainyard::render
