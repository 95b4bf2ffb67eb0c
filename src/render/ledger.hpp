#pragma once
// data/render: versions that the files rely on, and environment variables with their reason.

#include <string>
#include <string_view>
#include <vector>

#include "trainyard/render/recipe.hpp"
#include "trainyard/render/target.hpp"

namespace trainyard::render {

struct Version {
    std::string key;
    std::string value;
    std::string note;
    catalog::Provenance provenance;
};
/// An unknown key is a programmer error.
const Version& version(std::string_view key);
const std::vector<Version>& versions();

struct EnvVariable {
    std::string name;
    std::string value;
    std::string needs;  ///< the version from which it counts: "NCCL 2.12"
    std::string why;
    std::string source;
    std::string as_of;
};
/// What this recipe needs set, in the order of data/render/env.csv; often nothing.
std::vector<EnvVariable> environment(const Recipe& recipe, Framework framework);

}  // namespace trainyard::render
