// AWS Parallel Computing Service: requests for cluster, node groups and queue, and the Slurm job.
// Reference: https://docs.aws.amazon.com/pcs/latest/APIReference (model 2023-02-10)

#include <fmt/format.h>

#include "data_mount.hpp"
#include "ec2_requests.hpp"
#include "iam.hpp"
#include "ledger.hpp"
#include "limits.hpp"
#include "placeholders.hpp"
#include "readme.hpp"
#include "render_target.hpp"
#include "slurm_job.hpp"
#include "trainyard/render/names.hpp"
#include "trainyard/render/text.hpp"

namespace trainyard::render {

namespace {

using doc::Node;

constexpr NameRule kClusterName = {
    .what = "a PCS cluster name",
    .longest = 40,
    .upper_case = true,
    .source = "https://docs.aws.amazon.com/pcs/latest/APIReference/API_CreateCluster.html"};
constexpr const char* kNodeGroup = "nodes";
constexpr const char* kLoginGroup = "login";
/// The same path on the login node and on every node: Slurm looks for the job's files there.
constexpr const char* kRunDirectory = "/opt/trainyard/run";

Node one(Node item) {
    Node list = Node::list();
    list.append(std::move(item));
    return list;
}
Node one(std::string_view text) { return one(Node::string(std::string(text))); }

/// The plan's hash travels as a tag.
Node tags(const Recipe& r, const std::string& job) {
    Node n = Node::map();
    n.set("trainyard-run", job).set("trainyard-plan", r.plan_hash);
    return n;
}

/// Controller sizes: 32, 512 and 2048 nodes.
/// https://docs.aws.amazon.com/pcs/latest/userguide/working-with_clusters_size.html
const char* controller_size(int nodes) {
    const int instances = nodes + 1;  // the login node
    if (instances <= 32) return "SMALL";
    return instances <= 512 ? "MEDIUM" : "LARGE";
}

Node cluster(const Recipe& r, const std::string& name) {
    Node scheduler = Node::map();
    scheduler.set("type", "SLURM").set("version", version("pcs.slurm").value);
    Node networking = Node::map();
    networking.set("subnetIds", one(kPrivateSubnet.value));
    networking.set("securityGroupIds", one(kSecurityGroup.value));
    Node slurm = Node::map();
    slurm.set("scaleDownIdleTimeInSeconds", 600);
    Node n = Node::map();
    n.set("clusterName", name).set("scheduler", std::move(scheduler));
    n.set("size", controller_size(r.nodes)).set("networking", std::move(networking));
    n.set("slurmConfiguration", std::move(slurm)).set("tags", tags(r, name));
    return n;
}

Node setup(const Addresses& at) {
    Node source = Node::map();
    source.set("scriptLocation", folder(at.code) + "node-setup.sh");
    Node step = Node::map();
    step.set("name", "setup").set("scriptSource", std::move(source));
    step.set("onError", "TERMINATE").set("executionPolicy", "EVERY_BOOT");
    Node stages = Node::map();
    stages.set("nodeBootstrapped", one(std::move(step)));
    Node n = Node::map();
    n.set("stages", std::move(stages));
    return n;
}

std::string profile_name(const std::string& job) { return "AWSPCS-" + job; }

/// What both node groups share.
Node group(const Recipe& r, const SlurmJob& job, const Addresses& at, const char* name) {
    Node n = Node::map();
    n.set("clusterIdentifier", job.name).set("computeNodeGroupName", name);
    n.set("amiId", kImage.value).set("subnetIds", one(kPrivateSubnet.value));
    n.set("iamInstanceProfileArn",
          fmt::format("arn:{}:iam::{}:instance-profile/{}", partition(r.region), kAccount.value,
                      profile_name(job.name)));
    n.set("nodeLifecycleActions", setup(at)).set("tags", tags(r, job.name));
    return n;
}

Node scaling(int least, int most) {
    Node n = Node::map();
    n.set("minInstanceCount", least).set("maxInstanceCount", most);
    return n;
}

Node type(const std::string& instance) {
    Node n = Node::map();
    n.set("instanceType", instance);
    return one(std::move(n));
}

Node node_group(const Recipe& r, const SlurmJob& job, const Addresses& at) {
    const bool block = r.purchase == Purchase::capacity_block;
    const bool spot = r.purchase == Purchase::spot;
    Node n = group(r, job, at, kNodeGroup);
    n.set("purchaseOption", block ? "CAPACITY_BLOCK" : spot ? "SPOT" : "ONDEMAND");
    // A block is paid for whether its nodes run or not.
    n.set("scalingConfiguration", scaling(block ? r.nodes : 0, r.nodes));
    n.set("instanceConfigs", type(r.instance.type));
    if (spot) {
        Node options = Node::map();
        options.set("allocationStrategy", "capacity-optimized");
        n.set("spotOptions", std::move(options));
    }
    Node chosen = Node::map();
    chosen.set("id", kLaunchTemplate.value).set("version", "1");
    n.set("customLaunchTemplate", std::move(chosen));
    return n;
}

Node login_group(const Recipe& r, const SlurmJob& job, const Addresses& at) {
    Node n = group(r, job, at, kLoginGroup);
    n.set("purchaseOption", "ONDEMAND").set("scalingConfiguration", scaling(1, 1));
    n.set("instanceConfigs", type(r.head_node)).set("launchTemplateMode", "MANAGED");
    n.set("securityGroupIds", one(kSecurityGroup.value));
    return n;
}

Node queue(const Recipe& r, const SlurmJob& job) {
    Node member = Node::map();
    member.set("computeNodeGroupId", kComputeNodeGroup.value);
    Node n = Node::map();
    n.set("clusterIdentifier", job.name).set("queueName", kSlurmPartition);
    n.set("computeNodeGroupConfigurations", one(std::move(member))).set("tags", tags(r, job.name));
    return n;
}

/// The launch template of the EC2 target without what PCS sets itself: image, type, role, script.
Node nodes_template(const Recipe& r, const Ec2Run& run) {
    Node body = launch_template(r, run, fleets_of(r).front());
    const Node& all = *body.find("LaunchTemplateData");
    Node data = Node::map();
    for (const char* key : {"NetworkInterfaces", "Placement", "InstanceMarketOptions",
                            "CapacityReservationSpecification", "BlockDeviceMappings",
                            "MetadataOptions", "TagSpecifications"}) {
        if (const Node* value = all.find(key)) data.set(key, *value);
    }
    body.set("LaunchTemplateData", std::move(data));
    return body;
}

/// https://docs.aws.amazon.com/pcs/latest/userguide/security-instance-profiles.html
Node register_policy(const Recipe& r) {
    Node statement = Node::map();
    statement.set("Sid", "JoinTheCluster").set("Effect", "Allow");
    statement.set("Action", one("pcs:RegisterComputeNodeGroupInstance"));
    statement.set("Resource", one(fmt::format("arn:{}:pcs:{}:{}:cluster/*", partition(r.region),
                                              r.region, kAccount.value)));
    Node n = Node::map();
    n.set("Version", "2012-10-17").set("Statement", one(std::move(statement)));
    return n;
}

void add_profile(Directory& out, const Recipe& r, const SlurmJob& job) {
    Node make = Node::map();
    make.set("InstanceProfileName", profile_name(job.name)).set("Tags", aws_tags(r, job.name));
    Node fill = Node::map();
    fill.set("InstanceProfileName", profile_name(job.name));
    fill.set("RoleName", run_role_name(job.name));
    out.add({"iam/iam.create-instance-profile.json", write_json(make)});
    out.add({"iam/iam.add-role-to-instance-profile.json", write_json(fill)});
    out.add({"iam/policy-pcs.json", write_json(register_policy(r))});
}

constexpr std::string_view kSetup = R"sh(
# Runs as root on every boot of a node: its local disks become /scratch, the job's files arrive.
set -euo pipefail
code=CODE
run=RUN
mapfile -t disks < <(lsblk -dpno NAME,MODEL | awk '/Instance Storage/ {print $1}')
if [ "${#disks[@]}" -gt 0 ] && ! mountpoint -q /scratch; then
    disk=${disks[0]}
    if [ "${#disks[@]}" -gt 1 ]; then
        disk=/dev/md/scratch
        [ -e "$disk" ] || mdadm --create "$disk" --run --level=0 --name=scratch \
            --homehost=any --raid-devices="${#disks[@]}" "${disks[@]}"
    fi
    blkid "$disk" >/dev/null || mkfs.ext4 -q -E nodiscard "$disk"
    mkdir -p /scratch
    mount "$disk" /scratch
fi
mkdir -p /scratch "$run"
chmod 1777 /scratch
aws s3 sync --only-show-errors "$code" "$run"
chmod 1777 "$run"
find "$run" -maxdepth 1 -name '*.s*' -exec chmod +x {} +
)sh";

std::string setup_script(const Recipe& r, const Addresses& at) {
    std::string s(kSetup);
    for (const auto& [mark, value] :
         {std::pair{std::string_view("CODE"), folder(at.code)},
          std::pair{std::string_view("RUN"), std::string(kRunDirectory)}}) {
        s.replace(s.find(mark), mark.size(), shell_word(value));
    }
    return "#!/bin/bash\n" + head_comment("#", r, Target::pcs) + s + mount_data(r, at);
}

std::optional<Error> mistake(const Recipe& r, const Options& options) {
    if (r.purchase == Purchase::mixed) {
        return refuse(r, "a gang on mixed capacity is not for PCS",
                      "a node group has one purchase option, and a job runs in one queue",
                      "--target ec2-fleet, or plan with --no-spot");
    }
    if (r.lustre) {
        return refuse(r, "the plan reads from FSx for Lustre, which PCS does not mount",
                      "its nodes mount what their image or launch template mounts",
                      "--target parallelcluster");
    }
    if (options.openzfs) {
        return refuse(r, "--openzfs is not for PCS",
                      "its nodes mount what their image or launch template mounts",
                      "leave it out, or --target ec2-fleet");
    }
    return std::nullopt;
}

void add_requests(Directory& out, const Recipe& r, const SlurmJob& job, const Ec2Run& run) {
    const auto add = [&out](std::string path, const Node& body) {
        out.add({std::move(path), write_json(body)});
    };
    add("pcs.create-cluster.json", cluster(r, job.name));
    add("pcs.create-compute-node-group.login.json", login_group(r, job, run.at));
    add("pcs.create-compute-node-group.nodes.json", node_group(r, job, run.at));
    add("pcs.create-queue.json", queue(r, job));
    add("ec2.create-launch-template.json", nodes_template(r, run));
    add("ec2.create-security-group.json", security_group(r, run));
    add("ec2.authorize-security-group-ingress.json", self_rule());
    add("ec2.authorize-security-group-egress.json", self_rule());
    if (run.own_placement) add("ec2.create-placement-group.json", placement_group(r, run));
    add_block_purchase(out, r, job.name, r.nodes);
}

std::vector<std::string> start_commands(const Directory& d, const Recipe& r, const SlurmJob& job,
                                        const Addresses& at) {
    std::vector<std::string> c = storage_commands(d, r, job.name);
    c.push_back("# put the new group's and the new template's id into the files as they come");
    c.push_back(
        fmt::format("aws iam put-role-policy --role-name {} --policy-name pcs "
                    "--policy-document file://iam/policy-pcs.json",
                    run_role_name(job.name)));
    for (const char* path :
         {"iam/iam.create-instance-profile.json", "iam/iam.add-role-to-instance-profile.json",
          "ec2.create-security-group.json", "ec2.authorize-security-group-ingress.json",
          "ec2.authorize-security-group-egress.json", "ec2.create-placement-group.json"}) {
        if (const File* f = d.find(path)) c.push_back(send_request(r, *f));
    }
    for (std::string& line : block_commands(d, r)) c.push_back(std::move(line));
    c.push_back(send_request(r, *d.find("ec2.create-launch-template.json")));
    c.push_back(
        "aws s3 sync --exclude 'ec2.*' --exclude 'pcs.*' --exclude 'iam/*' "
        "--exclude 'storage/*' . " +
        shell_word(folder(at.code)));
    c.push_back(send_request(r, *d.find("pcs.create-cluster.json")));
    c.push_back(
        fmt::format("aws pcs get-cluster --region {} --cluster-identifier {}   # until "
                    "ACTIVE",
                    shell_word(r.region), job.name));
    for (const char* path : {"pcs.create-compute-node-group.login.json",
                             "pcs.create-compute-node-group.nodes.json", "pcs.create-queue.json"}) {
        c.push_back(send_request(r, *d.find(path)));
    }
    c.push_back(fmt::format(
        "# on the login node (aws ssm start-session): cd {} && sbatch job.sbatch", kRunDirectory));
    return c;
}

/// PCS has no waiters: what still holds something cannot be deleted.
std::string until_none(const std::string& of, std::string_view what) {
    const std::string key = what == "queues" ? "queues" : "computeNodeGroups";
    return fmt::format(
        "until [ \"$(aws pcs list-{}{} --query 'length({})' --output text)\" = 0 ]; do sleep 30; "
        "done",
        what, of, key);
}

std::vector<std::string> tear_down(const Directory& d, const Recipe& r, const SlurmJob& job,
                                   const Ec2Run& run) {
    const std::string of =
        fmt::format(" --region {} --cluster-identifier {}", shell_word(r.region), job.name);
    std::vector<std::string> c = {
        std::string("aws pcs delete-queue") + of + " --queue-identifier " + kSlurmPartition,
        until_none(of, "queues")};
    for (const char* name : {kNodeGroup, kLoginGroup}) {
        c.push_back("aws pcs delete-compute-node-group" + of + " --compute-node-group-identifier " +
                    name);
    }
    c.push_back(until_none(of, "compute-node-groups"));
    c.push_back("aws pcs delete-cluster" + of);
    c.push_back("while aws pcs get-cluster" + of + " >/dev/null 2>&1; do sleep 30; done");
    const std::string region = " --region " + shell_word(r.region);
    c.push_back("aws ec2 delete-launch-template" + region + " --launch-template-name " +
                template_name(run, fleets_of(r).front()));
    if (run.own_placement)
        c.push_back("aws ec2 delete-placement-group" + region + " --group-name " +
                    placement_name(run));
    c.push_back(
        fmt::format("aws ec2 delete-security-group{} --group-id {}", region, kSecurityGroup.value));
    c.push_back(
        fmt::format("aws iam remove-role-from-instance-profile --instance-profile-name {} "
                    "--role-name {}",
                    profile_name(job.name), run_role_name(job.name)));
    c.push_back("aws iam delete-instance-profile --instance-profile-name " +
                profile_name(job.name));
    c.push_back(fmt::format("aws iam delete-role-policy --role-name {} --policy-name pcs",
                            run_role_name(job.name)));
    for (std::string& line : storage_tear_down(d, r, run.at, job.name, Target::pcs))
        c.push_back(std::move(line));
    return c;
}

}  // namespace

Result<Directory> render_pcs(const Recipe& r, const Options& options) {
    if (auto wrong = mistake(r, options)) return *std::move(wrong);
    auto job = slurm_job(r, options, Target::pcs, kClusterName);
    if (!job) return job.error();
    const Addresses* at = &job->at;
    Ec2Run run;
    run.name = job->name;
    run.at = *at;
    run.image = kImage.value;
    run.own_placement = r.is_gang() && r.purchase != Purchase::capacity_block;
    Directory d;
    for (File& f : job->files) d.add(std::move(f));
    d.add({"node-setup.sh", setup_script(r, *at), true});
    add_requests(d, r, *job, run);
    add_storage(d, r, *at, job->name, {});
    add_iam(d, r, Target::pcs, *at, job->name);
    add_profile(d, r, *job);
    std::vector<std::string> notes = slurm_notes(r, *job);
    notes.push_back("The image is a PCS-ready one with a driver for " + r.instance.type +
                    ": PCS's agent and Slurm " + version("pcs.slurm").value +
                    " are in it. The login group takes the same.");
    notes.push_back(
        fmt::format("Nodes share no files: `node-setup.sh` brings this directory from "
                    "S3 to `{}`, where the log lies on the job's first node.",
                    kRunDirectory));
    notes.push_back(kReachNodes);
    for (std::string& note : storage_notes(r, Target::pcs)) notes.push_back(std::move(note));
    add_readme(d, r,
               {.target = Target::pcs,
                .tool = "AWS Parallel Computing Service",
                .start = start_commands(d, r, *job, *at),
                .tear_down = tear_down(d, r, *job, run),
                .notes = std::move(notes),
                .more_per_hour = "the login node (" + r.head_node +
                                 "), and PCS's own fee for controller and nodes, which the plan "
                                 "does not count"});
    return d;
}

}  // namespace trainyard::render
