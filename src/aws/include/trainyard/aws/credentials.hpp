#pragma once
// Who signs. A value of this type is a secret: it is never printed, and its members reach only the
// signer and the providers.

#include <chrono>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include "trainyard/base/result.hpp"

namespace trainyard::aws {

struct Credentials {
    std::string access_key;
    std::string secret_key;
    std::string session_token;  ///< empty: long-lived keys
    std::optional<std::chrono::sys_time<std::chrono::seconds>> expires;
};

/// Gives the credentials that are good now; asked for each attempt of each request, from any
/// thread.
class CredentialSource {
  public:
    CredentialSource() = default;
    CredentialSource(const CredentialSource&) = delete;
    CredentialSource& operator=(const CredentialSource&) = delete;
    CredentialSource(CredentialSource&&) = delete;
    CredentialSource& operator=(CredentialSource&&) = delete;
    virtual ~CredentialSource() = default;

    /// May take seconds when it must fetch. An error names every place that was looked at.
    virtual Result<Credentials> get(const std::stop_token& stop) = 0;
    /// The server refused these as expired or unknown: the next get() fetches again.
    virtual void refuse(const Credentials& credentials) = 0;
};

/// Always the same keys.
std::shared_ptr<CredentialSource> fixed_credentials(Credentials credentials);

}  // namespace trainyard::aws
