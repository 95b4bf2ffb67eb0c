#pragma once
// Where credentials come from, in the order of AWS's own tools: environment, web identity, profile
// (shared files; SSO, credential_process and assumed roles through "aws configure
// export-credentials"), container, instance (IMDSv2). The first place that has any is kept and
// asked again before they expire, and at once when a server refuses them; files are read again each
// time.

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "trainyard/aws/credentials.hpp"
#include "trainyard/sys/clock.hpp"
#include "trainyard/sys/environment.hpp"

namespace trainyard::aws {

struct ChainSettings {
    std::string profile;  ///< given by the user: then no other place is asked; empty: the chain
    std::string region = "us-east-1";  ///< of the STS that is asked
    std::function<std::optional<std::string>(const char*)> environment = sys::get_env;
    std::function<sys::WallTime()> now = sys::wall_time;
};

std::shared_ptr<CredentialSource> credential_chain(ChainSettings settings);

/// AWS_REGION, AWS_DEFAULT_REGION or the profile's; nullopt if none says.
std::optional<std::string> configured_region(const ChainSettings& settings);

}  // namespace trainyard::aws
