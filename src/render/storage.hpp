#pragma once
// The requests that make a run's storage and image cache, for every target: an S3 bucket with its
// lifecycle, the free S3 gateway endpoint, FSx for Lustre with its links to S3 where the plan reads
// from it, OpenZFS where it was asked for, and an ECR pull-through rule. File names say what takes
// them: <service>.<operation>[.<label>].json goes to `aws <service> <operation> --cli-input-json`.

#include <string>
#include <string_view>
#include <vector>

#include "trainyard/base/result.hpp"
#include "trainyard/doc/node.hpp"
#include "trainyard/render/directory.hpp"
#include "trainyard/render/names.hpp"
#include "trainyard/render/recipe.hpp"
#include "trainyard/render/target.hpp"

namespace trainyard::render {

/// Where a run's files live. No prefix has a slash at its ends; address() adds the last one.
struct Addresses {
    S3Address checkpoint;
    S3Address data;
    S3Address code;
    S3Address output;
};
Result<Addresses> run_addresses(const Options& options, std::string_view job);
/// "s3://bucket/prefix/".
std::string folder(const S3Address& a);

/// [{"Key": "trainyard-run", "Value": job}, {"Key": "trainyard-plan", "Value": the plan's hash}]:
/// where a request has no comments, its tags carry the hash.
doc::Node aws_tags(const Recipe& recipe, std::string_view job);
/// The same as EC2 wants it: one entry for each resource type.
doc::Node tag_specifications(const Recipe& recipe, std::string_view job,
                             std::initializer_list<std::string_view> resource_types);

/// A Lustre file system that can be bought: the plan's size rounded up to what FSx sells.
struct LustreSize {
    double gib = 0;
    bool efa = false;  ///< EFA clients; only in large steps, so only where the size is near one
};
LustreSize lustre_size(const Recipe& recipe);

/// What of it a target asks for.
struct StorageWish {
    bool lustre = true;  ///< the file system, where the plan reads from one
    bool openzfs = false;
    bool in_vpc = true;  ///< the machines are in a VPC of the user's: they reach S3 by an endpoint
};
/// storage/*.json for what the plan needs.
void add_storage(Directory& out, const Recipe& recipe, const Addresses& at, std::string_view job,
                 const StorageWish& wish);
/// "aws ec2 create-fleet --region … --cli-input-json file://…" of a file that is named as above.
std::string send_request(const Recipe& recipe, const File& request);
/// For the README: shell commands that send those requests and make the role, if there is one, in
/// order, and those that take all of it away again.
std::vector<std::string> storage_commands(const Directory& out, const Recipe& recipe,
                                          std::string_view job);
std::vector<std::string> storage_tear_down(const Directory& out, const Recipe& recipe,
                                           const Addresses& at, std::string_view job,
                                           Target target);
/// For the README: what the bucket deletes by itself, and what may be left out.
std::vector<std::string> storage_notes(const Recipe& recipe, Target target);
/// Whether the run reads its program from S3, and whether it writes its output there.
bool takes_code(Target target, const Recipe& recipe);
bool writes_output(Target target);

}  // namespace trainyard::render
