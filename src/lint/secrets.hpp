#pragma once
// Credentials by their own form, in any text.

#include <string_view>
#include <vector>

#include "document.hpp"

namespace trainyard::lint {

struct Secret {
    Location where;
    std::string_view kind;  ///< "an AWS access key id"
    std::string shown;      ///< its first characters only
};

/// AWS key ids, tokens of Hugging Face, GitHub, Slack, W&B behind their names, private keys.
/// Placeholders and AWS's EXAMPLE keys are none.
std::vector<Secret> secrets_in(const Document& d);

}  // namespace trainyard::lint
