#pragma once
// Each place that may have credentials. nullopt: this place is not set up here, ask the next one.
// An error: it is set up but does not give any. No error shows what was received, since that may be
// half a secret.

#include <optional>
#include <string>
#include <string_view>

#include "trainyard/aws/credential_chain.hpp"
#include "trainyard/sys/http.hpp"

namespace trainyard::aws {

using Provided = Result<std::optional<Credentials>>;

struct ProviderContext {
    const ChainSettings& settings;
    sys::HttpClient& http;
    std::stop_token stop;
};

Provided from_environment(const ProviderContext& context);
Provided from_web_identity(const ProviderContext& context);
Provided from_profile(const ProviderContext& context);
Provided from_container(const ProviderContext& context);
Provided from_instance(const ProviderContext& context);

/// {"AccessKeyId", "SecretAccessKey", "Token" or "SessionToken", "Expiration"}: what the CLI, the
/// container endpoint, IMDS and STS all give. nullopt if a key is missing.
std::optional<Credentials> parse_credentials(std::string_view json);

Error provider_error(std::string what, std::string why, std::string fix);

}  // namespace trainyard::aws
