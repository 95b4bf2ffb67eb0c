#pragma once
// Terraform's language, as far as configurations state facts: blocks, attributes, literals. An
// expression stays as its text ("aws_security_group.efa.id"); nothing is evaluated.
//
// A block becomes an item of a list under its type; its labels are the list "#labels":
//     resource "aws_instance" "gpu" { ami = "x" }
//     -> {"resource": [{"#labels": ["aws_instance", "gpu"], "ami": "x"}]}

#include <string_view>

#include "trainyard/base/result.hpp"
#include "trainyard/doc/node.hpp"

namespace trainyard::lint {

/// Refuses a block or a list that is not closed, and nesting beyond 64.
Result<doc::Node> read_hcl(std::string_view text, std::string_view file);

}  // namespace trainyard::lint
