#pragma once
// Least-privilege IAM documents: what the nodes of a run may do, and what someone who only watches
// may do. A user's S3 prefix enters a resource through iam_literal, so that '*', '?' and '$' in it
// stay characters and never widen the grant.

#include <string>
#include <string_view>

#include "storage.hpp"
#include "trainyard/doc/node.hpp"
#include "trainyard/render/directory.hpp"
#include "trainyard/render/recipe.hpp"
#include "trainyard/render/target.hpp"

namespace trainyard::render {

/// "aws", "aws-cn" or "aws-us-gov".
std::string partition(std::string_view region);

/// Text that an IAM resource or StringLike condition matches as it stands
/// (https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_variables.html, "special
/// characters": ${*}, ${?} and ${$}).
std::string iam_literal(std::string_view s);

/// The role of the nodes: the job's name in at most 64 characters.
std::string run_role_name(std::string_view job);

doc::Node run_policy(const Recipe& recipe, Target target, const Addresses& at);
doc::Node read_only_policy(const Recipe& recipe, Target target, const Addresses& at);

/// iam/policy-run.json, iam/policy-read-only.json and iam/iam.create-role.json.
void add_iam(Directory& out, const Recipe& recipe, Target target, const Addresses& at,
             std::string_view job);
/// The instance profile that gives the role to machines, with the role's name.
void add_instance_profile(Directory& out, const Recipe& recipe, std::string_view job);

inline constexpr const char* kReachNodes =
    "No node listens to SSH: `aws ssm start-session --target INSTANCE` opens a shell (the agent is "
    "in the image; the subnet needs a way to Systems Manager, by NAT or by endpoints).";

}  // namespace trainyard::render
