#pragma once
// CloudFormation with the default values of its parameters: what the template makes if nobody sets
// one.

#include "trainyard/doc/node.hpp"

namespace trainyard::lint {

/// {Ref: P} of a parameter with a default becomes that value; Fn::If becomes its branch if its
/// condition follows from defaults, and stays otherwise, but as an item of a list becomes the one
/// branch that is no AWS::NoValue. Places are those of the uses.
doc::Node with_defaults(const doc::Node& template_root);

}  // namespace trainyard::lint
