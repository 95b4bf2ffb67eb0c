#pragma once
// Who signs. A value of this type is a secret: it is never printed, and its members reach only the
// signer and the providers.

#include <chrono>
#include <optional>
#include <string>

namespace trainyard::aws {

struct Credentials {
    std::string access_key;
    std::string secret_key;
    std::string session_token;  ///< empty: long-lived keys
    std::optional<std::chrono::sys_time<std::chrono::seconds>> expires;
};

}  // namespace trainyard::aws
