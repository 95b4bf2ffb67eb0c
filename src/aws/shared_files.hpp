#pragma once
// ~/.aws/config and ~/.aws/credentials.

#include <map>
#include <string>
#include <string_view>

#include "trainyard/aws/credential_chain.hpp"

namespace trainyard::aws {

using Profile = std::map<std::string, std::string>;  ///< keys in lower case

/// Sections by name; what is no "[section]", "key = value" or comment is skipped, as the AWS CLI
/// does. Indented lines belong to the value above and are skipped.
std::map<std::string, Profile> parse_shared_file(std::string_view text);
/// The name that the user or AWS_PROFILE gives, else "default".
std::string profile_name(const ChainSettings& settings);
/// Both files merged; the credentials file wins. Empty if there is no such profile.
Profile read_profile(const ChainSettings& settings);

}  // namespace trainyard::aws
