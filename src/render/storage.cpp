#include "storage.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "checkpoint_functions.hpp"
#include "iam.hpp"
#include "launch_framework.hpp"
#include "limits.hpp"
#include "placeholders.hpp"
#include "trainyard/base/text.hpp"
#include "trainyard/render/text.hpp"

namespace trainyard::render {
namespace {

using doc::Node;

Node list_of(std::string_view only) {
    Node l = Node::list();
    l.append(Node::string(std::string(only)));
    return l;
}

Node map_of(std::string key, Node value) {
    Node m = Node::map();
    m.set(std::move(key), std::move(value));
    return m;
}

Node days(const char* key, double n) {
    return map_of(key, Node::integer(static_cast<std::int64_t>(n)));
}

Node rule(const char* id, std::string_view prefix) {
    Node r = Node::map();
    r.set("ID", id);
    r.set("Status", "Enabled");
    r.set("Filter", map_of("Prefix", Node::string(std::string(prefix))));
    return r;
}

/// Checkpoints older than the slow end of the run and a grace time: no run of this plan reads them.
double checkpoint_days(const Recipe& r) {
    const double most = limit("s3.checkpoint_most");
    return std::min(std::ceil(r.wall.high / kDay) + limit("s3.checkpoint_grace"), most);
}

Node lifecycle(const Recipe& r, const Addresses& at) {
    Node rules = Node::list();
    Node parts = rule("abort-broken-uploads", "");
    parts.set("AbortIncompleteMultipartUpload",
              days("DaysAfterInitiation", limit("s3.abort_multipart")));
    rules.append(std::move(parts));
    if (!at.checkpoint.prefix.empty()) {
        Node old = rule("expire-checkpoints", at.checkpoint.prefix + "/");
        old.set("Expiration", days("Days", checkpoint_days(r)));
        old.set("NoncurrentVersionExpiration", days("NoncurrentDays", limit("s3.noncurrent")));
        rules.append(std::move(old));
    }
    Node body = Node::map();
    body.set("Bucket", at.checkpoint.bucket);
    body.set("LifecycleConfiguration", map_of("Rules", std::move(rules)));
    return body;
}

Node bucket(const Recipe& r, const Addresses& at) {
    Node body = Node::map();
    body.set("Bucket", at.checkpoint.bucket);
    body.set("ObjectOwnership", "BucketOwnerEnforced");
    // us-east-1 is the default and the one name that S3 refuses here.
    if (r.region != "us-east-1") {
        body.set("CreateBucketConfiguration", map_of("LocationConstraint", Node::string(r.region)));
    }
    return body;
}

Node block_public_access(const Addresses& at) {
    Node all = Node::map();
    for (const char* key :
         {"BlockPublicAcls", "IgnorePublicAcls", "BlockPublicPolicy", "RestrictPublicBuckets"})
        all.set(key, true);
    Node body = Node::map();
    body.set("Bucket", at.checkpoint.bucket);
    body.set("PublicAccessBlockConfiguration", std::move(all));
    return body;
}

Node gateway_endpoint(const Recipe& r, std::string_view job) {
    Node body = Node::map();
    body.set("VpcEndpointType", "Gateway");
    body.set("VpcId", kVpc.value);
    body.set("ServiceName", "com.amazonaws." + r.region + ".s3");
    body.set("RouteTableIds", list_of(kRouteTable.value));
    body.set("TagSpecifications", tag_specifications(r, job, {"vpc-endpoint"}));
    return body;
}

Node lustre(const Recipe& r, std::string_view job) {
    const LustreSize size = lustre_size(r);
    Node inner = Node::map();
    inner.set("DeploymentType", "PERSISTENT_2");
    inner.set("PerUnitStorageThroughput", static_cast<std::int64_t>(limit("fsx.lustre.tier")));
    inner.set("DataCompressionType", "LZ4");
    if (size.efa) inner.set("EfaEnabled", true);
    inner.set("MetadataConfiguration", map_of("Mode", Node::string("AUTOMATIC")));
    Node body = Node::map();
    body.set("FileSystemType", "LUSTRE");
    body.set("FileSystemTypeVersion", "2.15");
    body.set("StorageCapacity", static_cast<std::int64_t>(size.gib));
    body.set("StorageType", "SSD");
    body.set("SubnetIds", list_of(kPrivateSubnet.value));
    body.set("SecurityGroupIds", list_of(kSecurityGroup.value));
    body.set("LustreConfiguration", std::move(inner));
    body.set("Tags", aws_tags(r, job));
    return body;
}

Node events(std::initializer_list<const char*> names) {
    Node list = Node::list();
    for (const char* n : names) list.append(Node::string(n));
    return map_of("Events", std::move(list));
}

/// The data is imported; checkpoints are exported, but a local deletion must not delete in S3.
Node association(const Recipe& r, std::string_view job, const S3Address& at, const char* path,
                 bool import) {
    Node body = Node::map();
    body.set("FileSystemId", kFileSystem.value);
    body.set("FileSystemPath", path);
    body.set("DataRepositoryPath", at.text());
    body.set("BatchImportMetaDataOnCreate", import);
    Node s3 = import ? map_of("AutoImportPolicy", events({"NEW", "CHANGED", "DELETED"}))
                     : map_of("AutoExportPolicy", events({"NEW", "CHANGED"}));
    body.set("S3", std::move(s3));
    body.set("Tags", aws_tags(r, job));
    return body;
}

Node openzfs_request(const Recipe& r, std::string_view job) {
    Node client = Node::map();
    client.set("Clients", "10.0.0.0/8");
    Node options = Node::list();
    for (const char* o : {"rw", "crossmnt"}) options.append(Node::string(o));
    client.set("Options", std::move(options));
    Node clients = Node::list();
    clients.append(std::move(client));
    Node exports = Node::list();
    exports.append(map_of("ClientConfigurations", std::move(clients)));
    Node root = Node::map();
    root.set("DataCompressionType", "LZ4");
    root.set("NfsExports", std::move(exports));
    Node inner = Node::map();
    inner.set("DeploymentType", "SINGLE_AZ_HA_2");
    inner.set("ThroughputCapacity", static_cast<std::int64_t>(limit("fsx.openzfs.throughput")));
    inner.set("RootVolumeConfiguration", std::move(root));
    Node body = Node::map();
    body.set("FileSystemType", "OPENZFS");
    body.set("StorageCapacity", static_cast<std::int64_t>(limit("fsx.openzfs.capacity")));
    body.set("StorageType", "SSD");
    body.set("SubnetIds", list_of(kPrivateSubnet.value));
    body.set("SecurityGroupIds", list_of(kSecurityGroup.value));
    body.set("OpenZFSConfiguration", std::move(inner));
    body.set("Tags", aws_tags(r, job));
    return body;
}

Node pull_through() {
    Node body = Node::map();
    body.set("ecrRepositoryPrefix", "ecr-public");
    body.set("upstreamRegistry", "ecr-public");
    body.set("upstreamRegistryUrl", "public.ecr.aws");
    return body;
}

void add_request(Directory& out, const char* name, const Node& body) {
    out.add({std::string("storage/") + name + ".json", write_json(body)});
}

void add_bucket(Directory& out, const Recipe& r, const Addresses& at) {
    add_request(out, "s3.create-bucket", bucket(r, at));
    add_request(out, "s3.put-public-access-block", block_public_access(at));
    add_request(out, "s3.put-bucket-lifecycle-configuration", lifecycle(r, at));
}

void add_lustre(Directory& out, const Recipe& r, const Addresses& at, std::string_view job) {
    add_request(out, "fsx.create-file-system.lustre", lustre(r, job));
    add_request(out, "fsx.create-data-repository-association.data",
                association(r, job, at.data, "/data", true));
    add_request(out, "fsx.create-data-repository-association.checkpoints",
                association(r, job, at.checkpoint, "/checkpoints", false));
}

/// In the order of creation: what others refer to comes first.
std::vector<std::string> requests_of(const Directory& out, const Recipe& r) {
    std::vector<std::string> commands;
    for (const char* stem :
         {"s3.create-bucket", "s3.put-public-access-block", "s3.put-bucket-lifecycle-configuration",
          "ec2.create-vpc-endpoint.s3", "ecr.create-pull-through-cache-rule",
          "fsx.create-file-system.lustre", "fsx.create-data-repository-association.data",
          "fsx.create-data-repository-association.checkpoints", "fsx.create-file-system.openzfs"}) {
        const File* f = out.find("storage/" + std::string(stem) + ".json");
        if (f == nullptr) continue;
        commands.push_back(send_request(r, *f));
        if (std::string_view(stem).starts_with("fsx.create-file-system"))
            commands.push_back("aws fsx describe-file-systems --region " + shell_word(r.region) +
                               "   # until AVAILABLE; then put its id and mount name into the "
                               "files");
    }
    return commands;
}

}  // namespace

Result<Addresses> run_addresses(const Options& options, std::string_view job) {
    auto checkpoint = checkpoint_address(options, job);
    if (!checkpoint) return checkpoint.error();
    Addresses a;
    a.checkpoint = *std::move(checkpoint);
    // One run, one prefix: two runs in one would resume from each other's checkpoints.
    const std::string last = a.checkpoint.prefix.substr(a.checkpoint.prefix.rfind('/') + 1);
    if (last != job) {
        a.checkpoint.prefix += a.checkpoint.prefix.empty() ? "" : "/";
        a.checkpoint.prefix += job;
    }
    a.data = {std::string(kDataBucket.value), "dataset"};
    a.code = {a.checkpoint.bucket, "code/" + std::string(job)};
    a.output = {a.checkpoint.bucket, "output/" + std::string(job)};
    return a;
}

std::string folder(const S3Address& a) { return a.text() + "/"; }

Node aws_tags(const Recipe& r, std::string_view job) {
    Node run = Node::map();
    run.set("Key", "trainyard-run");
    run.set("Value", job);
    Node plan = Node::map();
    plan.set("Key", "trainyard-plan");
    plan.set("Value", r.plan_hash);
    Node list = Node::list();
    list.append(std::move(run));
    list.append(std::move(plan));
    return list;
}

Node tag_specifications(const Recipe& r, std::string_view job,
                        std::initializer_list<std::string_view> resource_types) {
    Node list = Node::list();
    for (std::string_view type : resource_types) {
        Node entry = Node::map();
        entry.set("ResourceType", type);
        entry.set("Tags", aws_tags(r, job));
        list.append(std::move(entry));
    }
    return list;
}

LustreSize lustre_size(const Recipe& r) {
    const auto up = [](double gib, double step) { return std::ceil(gib / step) * step; };
    const double wanted = std::min(r.lustre.value_or(Bytes{}) / kGiB, limit("fsx.lustre.most"));
    const double first = limit("fsx.lustre.first_step");
    LustreSize size{wanted <= first ? first : up(wanted, limit("fsx.lustre.step")), false};
    const double with_efa = up(wanted, limit("fsx.lustre.efa_step"));
    const bool can = r.uses_efa() && r.instance.gpudirect_rdma == catalog::Yes::yes;
    if (can && wanted > 0 && with_efa <= size.gib * limit("fsx.lustre.efa_excess"))
        size = {with_efa, true};
    return size;
}

void add_storage(Directory& out, const Recipe& r, const Addresses& at, std::string_view job,
                 const StorageWish& wish) {
    add_bucket(out, r, at);
    if (wish.in_vpc) add_request(out, "ec2.create-vpc-endpoint.s3", gateway_endpoint(r, job));
    add_request(out, "ecr.create-pull-through-cache-rule", pull_through());
    if (wish.lustre && r.data_place == DataPlace::lustre) add_lustre(out, r, at, job);
    if (wish.openzfs) add_request(out, "fsx.create-file-system.openzfs", openzfs_request(r, job));
}

std::string send_request(const Recipe& r, const File& request) {
    const std::string name = request.path.substr(request.path.rfind('/') + 1);
    const std::size_t dot = name.find('.');
    const std::string service = name.substr(0, dot);
    const std::string operation = name.substr(dot + 1, name.find('.', dot + 1) - dot - 1);
    return fmt::format("aws {} {} --region {} --cli-input-json file://{}",
                       service == "s3" ? "s3api" : service, operation, shell_word(r.region),
                       request.path);
}

std::vector<std::string> storage_commands(const Directory& out, const Recipe& r,
                                          std::string_view job) {
    std::vector<std::string> commands;
    if (const File* role = out.find("iam/iam.create-role.json")) {
        commands.push_back(send_request(r, *role));
        commands.push_back(
            fmt::format("aws iam put-role-policy --role-name {} --policy-name run "
                        "--policy-document file://iam/policy-run.json",
                        run_role_name(job)));
    }
    const auto requests = requests_of(out, r);
    commands.insert(commands.end(), requests.begin(), requests.end());
    return commands;
}

bool takes_code(Target target, const Recipe& r) {
    return target == Target::ec2_fleet || target == Target::pcs || target == Target::sagemaker ||
           (target == Target::parallelcluster &&
            (r.is_trainium() || r.data_place == DataPlace::s3));
}

bool writes_output(Target target) { return target == Target::sagemaker; }

std::vector<std::string> storage_tear_down(const Directory& out, const Recipe& r,
                                           const Addresses& at, std::string_view job,
                                           Target target) {
    std::vector<std::string> commands;
    const std::string region = " --region " + shell_word(r.region);
    const std::pair<std::string, std::string_view> systems[] = {{"lustre", kFileSystem.value},
                                                                {"openzfs", kHomeFileSystem.value}};
    for (const auto& [kind, id] : systems) {
        if (out.find("storage/fsx.create-file-system." + kind + ".json") != nullptr) {
            if (kind == "lustre")
                commands.push_back(
                    "# what was not yet exported to S3 goes with it: look at the last checkpoint "
                    "there first");
            commands.push_back(
                fmt::format("aws fsx delete-file-system{} --file-system-id {}", region, id));
        }
    }
    if (out.find("iam/iam.create-role.json") != nullptr) {
        const std::string role = run_role_name(job);
        commands.push_back("aws iam delete-role-policy --role-name " + role + " --policy-name run");
        commands.push_back("aws iam delete-role --role-name " + role);
    }
    if (out.find("storage/ec2.create-vpc-endpoint.s3.json") != nullptr) {
        commands.push_back("# free, and perhaps in use by others by now:");
        commands.push_back(
            fmt::format("aws ec2 delete-vpc-endpoints{0} --vpc-endpoint-ids $(aws ec2 "
                        "describe-vpc-endpoints{0} --filters Name=tag:trainyard-run,Values={1} "
                        "--query 'VpcEndpoints[].VpcEndpointId' --output text)",
                        region, job));
    }
    commands.push_back("aws ecr delete-pull-through-cache-rule" + region +
                       " --ecr-repository-prefix ecr-public");
    commands.push_back("# only when the model lies elsewhere and nobody needs these any more:");
    std::vector<const S3Address*> places = {&at.checkpoint};
    if (writes_output(target)) places.push_back(&at.output);
    if (takes_code(target, r)) places.push_back(&at.code);
    for (const S3Address* a : places)
        commands.push_back("aws s3 rm --recursive " + shell_word(folder(*a)));
    commands.push_back("aws s3api delete-bucket" + region + " --bucket " +
                       shell_word(at.checkpoint.bucket) + "   # if it was made for this run");
    return commands;
}

std::vector<std::string> storage_notes(const Recipe& r, Target target) {
    std::vector<std::string> notes = {
        fmt::format(
            "**The bucket deletes by itself** what lies under the run's checkpoint prefix {:.0f} "
            "days after it was written, the last checkpoint included: copy the trained model "
            "elsewhere before that, or leave out the rule `expire-checkpoints`. Parts of broken "
            "uploads go after {:.0f} days.",
            checkpoint_days(r), limit("s3.abort_multipart")),
        "Leave out of `storage/` what you have: the bucket, the endpoint (free, and without it S3 "
        "traffic pays for NAT), the image cache (only for images of public.ecr.aws)."};
    const double saves = std::floor(r.steps / static_cast<double>(save_every(r)));
    const bool keeps_all = target == Target::sagemaker || r.data_place == DataPlace::lustre;
    if (keeps_all && saves > kept_checkpoints()) {
        notes.push_back(fmt::format(
            "Nothing but that rule removes old checkpoints here: {:.0f} of {} each may come "
            "together, and the plan's bill counts {}. Let the program delete what it no longer "
            "needs.",
            saves, format_bytes(r.checkpoint), kept_checkpoints()));
    }
    return notes;
}

}  // namespace trainyard::render
