// AWS ParallelCluster 3: cluster.yaml and a Slurm job.
// Reference:
// https://docs.aws.amazon.com/parallelcluster/latest/ug/cluster-configuration-file-v3.html

#include <fmt/format.h>

#include "launch.hpp"
#include "ledger.hpp"
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
    .what = "a ParallelCluster cluster name",
    .longest = 60,
    .upper_case = true,
    .source =
        "https://docs.aws.amazon.com/parallelcluster/latest/ug/pcluster.create-cluster-v3.html"};
constexpr int kRootGb = 200;

Node text(std::string_view s) { return Node::string(std::string(s)); }
Node one(Node item) {
    Node list = Node::list();
    list.append(std::move(item));
    return list;
}

Node head_node(const Recipe& r) {
    Node subnet = Node::map();
    subnet.set("SubnetId", kPublicSubnet.value);
    Node ssh = Node::map();
    ssh.set("KeyName", kKeyName.value);
    Node imds = Node::map();
    imds.set("Secured", true);
    Node n = Node::map();
    n.set("#", "as in the plan's bill: it schedules, it does not train");
    n.set("InstanceType", r.head_node).set("Networking", std::move(subnet));
    n.set("Ssh", std::move(ssh)).set("Imds", std::move(imds));
    return n;
}

std::string_view capacity_type(Purchase p) {
    if (p == Purchase::spot) return "SPOT";
    return p == Purchase::capacity_block ? "CAPACITY_BLOCK" : "ONDEMAND";
}

Node placement(const Recipe& r) {
    Node n = Node::map();
    if (r.purchase == Purchase::capacity_block) {
        n.set("#", "a Capacity Block places its nodes together; a group of your own is an error");
    } else if (!r.is_gang()) {
        n.set("#", "no traffic between nodes: nothing to place together");
    }
    n.set("Enabled", r.is_gang() && r.purchase != Purchase::capacity_block);
    return n;
}

Node networking(const Recipe& r) {
    Node n = Node::map();
    n.set("SubnetIds", one(text(kPrivateSubnet.value)));
    n.set("PlacementGroup", placement(r));
    return n;
}

Node storage(const Recipe& r) {
    Node root = Node::map();
    root.set("Size", kRootGb).set("VolumeType", "gp3");
    Node local = Node::map();
    local.set("RootVolume", std::move(root));
    if (r.instance.local_nvme) {
        Node scratch = Node::map();
        scratch.set("MountDir", "/scratch");
        local.set("EphemeralVolume", std::move(scratch));
    }
    Node n = Node::map();
    n.set("LocalStorage", std::move(local));
    return n;
}

Node buckets(const S3Address& checkpoint) {
    Node write = Node::map();
    write.set("BucketName", checkpoint.bucket).set("EnableWriteAccess", true);
    Node read = Node::map();
    read.set("BucketName", kDataBucket.value);
    Node list = Node::list();
    list.append(std::move(write)).append(std::move(read));
    Node n = Node::map();
    n.set("S3Access", std::move(list));
    return n;
}

Node compute_resource(const Recipe& r) {
    Node n = Node::map();
    n.set("Name", "nodes").set("InstanceType", r.instance.type);
    if (r.purchase == Purchase::capacity_block) {
        n.set("#", "a Capacity Block's nodes are static: paid for whether they run or not");
        n.set("MinCount", r.nodes).set("MaxCount", r.nodes);
        Node target = Node::map();
        target.set("CapacityReservationId", kReservation.value);
        n.set("CapacityReservationTarget", std::move(target));
    } else {
        n.set("MinCount", 0).set("MaxCount", r.nodes);
    }
    Node efa = Node::map();
    efa.set("Enabled", r.uses_efa());
    n.set("Efa", std::move(efa));
    return n;
}

Node queue(const Recipe& r, const S3Address& checkpoint) {
    Node n = Node::map();
    n.set("Name", kSlurmPartition).set("CapacityType", capacity_type(r.purchase));
    n.set("JobExclusiveAllocation", r.jobs_per_node == 1).set("Networking", networking(r));
    n.set("ComputeSettings", storage(r)).set("Iam", buckets(checkpoint));
    n.set("ComputeResources", one(compute_resource(r)));
    return n;
}

std::string cluster_yaml(const Recipe& r, const S3Address& checkpoint) {
    Node image = Node::map();
    image.set("Os", version("parallelcluster.os").value);
    Node settings = Node::map();
    settings.set("#", "minutes until an idle node is given back");
    settings.set("ScaledownIdletime", 10);
    Node scheduling = Node::map();
    scheduling.set("Scheduler", "slurm").set("SlurmSettings", std::move(settings));
    scheduling.set("SlurmQueues", one(queue(r, checkpoint)));
    Node root = Node::map();
    root.set("Region", r.region).set("Image", std::move(image));
    root.set("HeadNode", head_node(r)).set("Scheduling", std::move(scheduling));
    return head_comment("#", r, Target::parallelcluster) + write_yaml(root);
}

}  // namespace

Result<Directory> render_parallelcluster(const Recipe& recipe, const Options& options) {
    if (recipe.purchase == Purchase::mixed) {
        return refuse(recipe, "a gang on mixed capacity is not for ParallelCluster",
                      "a Slurm queue has one capacity type, and a job runs in one queue",
                      "render --target ec2-fleet, or plan with --no-spot");
    }
    auto job = slurm_job(recipe, options, Target::parallelcluster, kClusterName);
    if (!job) return job.error();
    Directory d;
    for (File& f : job->files) d.add(std::move(f));
    d.add({"cluster.yaml", cluster_yaml(recipe, job->checkpoint)});
    const std::string region = " --region " + shell_word(recipe.region);
    add_readme(d, recipe,
               {.target = Target::parallelcluster,
                .tool = "AWS ParallelCluster " + version("parallelcluster").value,
                .start = {"pip install aws-parallelcluster==" + version("parallelcluster").value,
                          "pcluster create-cluster -n " + job->name + " -c cluster.yaml" + region,
                          "pcluster ssh -n " + job->name + region + "   # then copy this directory",
                          "sbatch job.sbatch"},
                .tear_down = {"pcluster delete-cluster -n " + job->name + region},
                .notes = slurm_notes(recipe, *job),
                .more_per_hour = "the head node (" + recipe.head_node + ")"});
    return d;
}

}  // namespace trainyard::render
