// AWS ParallelCluster 3: cluster.yaml and a Slurm job.
// Reference:
// https://docs.aws.amazon.com/parallelcluster/latest/ug/cluster-configuration-file-v3.html

#include <fmt/format.h>

#include <cmath>

#include "data_mount.hpp"
#include "ec2_requests.hpp"
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

/// Without local NVMe checkpoints lie on the root volume: two of the node's part beside the system.
int root_gb(const Recipe& r) {
    if (r.instance.local_nvme || r.lustre) return kRootGb;
    return kRootGb + static_cast<int>(std::ceil(2 * r.checkpoint / r.nodes / kGB));
}

Node storage(const Recipe& r) {
    Node root = Node::map();
    root.set("Size", root_gb(r)).set("VolumeType", "gp3");
    Node local = Node::map();
    local.set("RootVolume", std::move(root));
    if (r.instance.local_nvme) {
        Node scratch = Node::map();
        scratch.set("MountDir", kScratch);
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

Node gpu_check() {
    Node gpu = Node::map();
    gpu.set("Enabled", true);
    Node n = Node::map();
    n.set("#", "DCGM looks at a node before a job starts on it");
    n.set("Gpu", std::move(gpu));
    return n;
}

/// Scripts that a node runs as root before it takes jobs, by their names in this directory.
std::vector<std::string> setup_scripts(const Recipe& r) {
    std::vector<std::string> names;
    if (r.is_trainium()) names.emplace_back("neuron.sh");
    if (r.data_place == DataPlace::s3) names.emplace_back("data.sh");
    return names;
}

Node node_setup(const Recipe& r, const Addresses& at) {
    Node scripts = Node::list();
    for (const std::string& name : setup_scripts(r)) {
        Node script = Node::map();
        script.set("Script", folder(at.code) + name);
        scripts.append(std::move(script));
    }
    Node sequence = Node::map();
    sequence.set("Sequence", std::move(scripts));
    Node n = Node::map();
    n.set("OnNodeConfigured", std::move(sequence));
    return n;
}

Node queue(const Recipe& r, const Addresses& at) {
    Node n = Node::map();
    n.set("Name", kSlurmPartition).set("CapacityType", capacity_type(r.purchase));
    n.set("JobExclusiveAllocation", r.jobs_per_node == 1).set("Networking", networking(r));
    n.set("ComputeSettings", storage(r)).set("Iam", buckets(at.checkpoint));
    // Not below the checkpoints: those expire, and a node that is replaced later needs them still.
    if (!setup_scripts(r).empty()) n.set("CustomActions", node_setup(r, at));
    if (!r.is_trainium()) n.set("HealthChecks", gpu_check());
    n.set("ComputeResources", one(compute_resource(r)));
    return n;
}

Node association(std::string_view name, const std::string& s3, std::string_view place,
                 bool writes) {
    Node n = Node::map();
    n.set("Name", name).set("DataRepositoryPath", s3).set("FileSystemPath", place);
    Node events = Node::list();
    events.append(text("NEW")).append(text("CHANGED"));
    if (writes) {
        n.set("#", "no DELETED: pruning a checkpoint here must not delete the copy in S3");
        n.set("AutoExportPolicy", std::move(events));
    } else {
        n.set("AutoImportPolicy", std::move(events.append(text("DELETED"))));
    }
    return n;
}

/// 1200 GiB or a multiple of 2400 (PERSISTENT_2 on SSD).
/// https://docs.aws.amazon.com/fsx/latest/LustreGuide/managing-storage-capacity.html
int lustre_gib(Bytes wanted) {
    if (wanted <= 1200 * kGiB) return 1200;
    return static_cast<int>(std::ceil(wanted / kGiB / 2400)) * 2400;
}

Node shared_storage(const Recipe& r, const SlurmJob& job) {
    Node associations = Node::list();
    associations.append(association("data", job.at.data.text(), "/data", false));
    associations.append(
        association("checkpoints", job.at.checkpoint.text(), "/checkpoints/" + job.name, true));
    Node settings = Node::map();
    settings.set("StorageCapacity", lustre_gib(*r.lustre)).set("DeploymentType", "PERSISTENT_2");
    settings.set("PerUnitStorageThroughput", 125).set("DataCompressionType", "LZ4");
    settings.set("#", "what is in it is in S3 too, but only once it was exported: see README.md");
    settings.set("DeletionPolicy", "Retain");
    settings.set("DataRepositoryAssociations", std::move(associations));
    Node n = Node::map();
    n.set("Name", "fsx").set("StorageType", "FsxLustre").set("MountDir", kLustre);
    n.set("FsxLustreSettings", std::move(settings));
    return one(std::move(n));
}

/// https://awsdocs-neuron.readthedocs-hosted.com/en/latest/setup/index.html
constexpr std::string_view kNeuron = R"sh(
# Runs once on each Trainium node, as root: driver, collectives and tools of the Neuron SDK.
set -euo pipefail
source /etc/os-release
install -d /etc/apt/keyrings
curl -fsSL https://apt.repos.neuron.amazonaws.com/GPG-PUB-KEY-AMAZON-AWS-NEURON.PUB |
    gpg --dearmor -o /etc/apt/keyrings/neuron.gpg
echo "deb [signed-by=/etc/apt/keyrings/neuron.gpg] https://apt.repos.neuron.amazonaws.com" \
    "$VERSION_CODENAME main" >/etc/apt/sources.list.d/neuron.list
apt-get update
apt-get install -y "linux-headers-$(uname -r)" aws-neuronx-dkms aws-neuronx-collectives \
    aws-neuronx-runtime-lib aws-neuronx-tools
)sh";

std::string cluster_yaml(const Recipe& r, const SlurmJob& job) {
    Node image = Node::map();
    image.set("Os",
              version(r.is_trainium() ? "parallelcluster.os.neuron" : "parallelcluster.os").value);
    Node settings = Node::map();
    settings.set("#", "minutes until an idle node is given back");
    settings.set("ScaledownIdletime", 10);
    Node scheduling = Node::map();
    scheduling.set("Scheduler", "slurm").set("SlurmSettings", std::move(settings));
    scheduling.set("SlurmQueues", one(queue(r, job.at)));
    Node root = Node::map();
    root.set("Region", r.region).set("Image", std::move(image));
    root.set("HeadNode", head_node(r)).set("Scheduling", std::move(scheduling));
    if (r.lustre) root.set("SharedStorage", shared_storage(r, job));
    return head_comment("#", r, Target::parallelcluster) + write_yaml(root);
}

/// What neither the images nor a queue of ParallelCluster can do.
std::optional<Error> mistake(const Recipe& recipe, const Options& options) {
    const std::string& architecture = recipe.accelerator.architecture;
    const bool old = architecture.find("Volta") != std::string::npos ||
                     architecture.find("Kepler") != std::string::npos ||
                     architecture.find("Maxwell") != std::string::npos;
    if (old) {
        return refuse(recipe, recipe.instance.type + " is too old for ParallelCluster's images",
                      architecture + " has no driver " + version("parallelcluster.driver").value,
                      "render --target ec2-fleet with an image of your own");
    }
    if (options.openzfs) {
        return refuse(recipe, "--openzfs is not for ParallelCluster",
                      "its nodes share the head node's home directories",
                      "leave it out, or --target ec2-fleet");
    }
    if (recipe.purchase == Purchase::mixed) {
        return refuse(recipe, "a gang on mixed capacity is not for ParallelCluster",
                      "a Slurm queue has one capacity type, and a job runs in one queue",
                      "render --target ec2-fleet, or plan with --no-spot");
    }
    return std::nullopt;
}

/// Nothing of these names is the user's: a name holds letters, digits and '-', a bucket less.
std::vector<std::string> start_commands(const Directory& out, const Recipe& r, const SlurmJob& job,
                                        const std::string& region) {
    std::vector<std::string> c = storage_commands(out, r, job.name);
    for (const std::string& name : setup_scripts(r))
        c.push_back("aws s3 cp " + name + " " + shell_word(folder(job.at.code) + name));
    for (std::string& line : block_commands(out, r)) c.push_back(std::move(line));
    if (r.block_days) c.push_back("# when the block has begun:");
    c.push_back("pip install aws-parallelcluster==" + version("parallelcluster").value);
    c.push_back("pcluster create-cluster -n " + job.name + " -c cluster.yaml" + region);
    c.push_back("pcluster describe-cluster -n " + job.name + region + "   # until CREATE_COMPLETE");
    c.push_back("pcluster ssh -n " + job.name + region + "   # with a copy of this directory");
    c.push_back("sbatch job.sbatch");
    return c;
}

std::vector<std::string> tear_down(const Directory& out, const Recipe& r, const SlurmJob& job,
                                   const std::string& region) {
    std::vector<std::string> c;
    if (r.lustre)
        c.push_back("aws fsx describe-data-repository-tasks" + region +
                    "   # all exports done? then the file system may go");
    c.push_back("pcluster delete-cluster -n " + job.name + region);
    if (r.lustre)
        c.push_back(fmt::format(
            "aws fsx delete-file-system{0} --file-system-id $(aws fsx describe-file-systems{0} "
            "--query \"FileSystems[?Tags[?Key=='parallelcluster:cluster-name' && "
            "Value=='{1}']].FileSystemId\" --output text)",
            region, job.name));
    if (r.purchase == Purchase::capacity_block)
        c.push_back("# the Capacity Block ends by itself; it cannot be cancelled");
    const auto rest = storage_tear_down(out, r, job.at, job.name, Target::parallelcluster);
    c.insert(c.end(), rest.begin(), rest.end());
    return c;
}

}  // namespace

Result<Directory> render_parallelcluster(const Recipe& recipe, const Options& options) {
    if (auto wrong = mistake(recipe, options)) return *std::move(wrong);
    auto job = slurm_job(recipe, options, Target::parallelcluster, kClusterName);
    if (!job) return job.error();
    Directory d;
    for (File& f : job->files) d.add(std::move(f));
    d.add({"cluster.yaml", cluster_yaml(recipe, *job)});
    if (recipe.is_trainium()) {
        d.add({"neuron.sh",
               "#!/bin/bash\n" + head_comment("#", recipe, Target::parallelcluster) +
                   std::string(kNeuron),
               true});
    }
    add_block_purchase(d, recipe, job->name, recipe.nodes);
    add_storage(d, recipe, job->at, job->name, {.lustre = false});
    if (recipe.data_place == DataPlace::s3) {
        d.add({"data.sh",
               "#!/bin/bash\n" + head_comment("#", recipe, Target::parallelcluster) +
                   "\n# Runs once on each node, as root.\nset -euo pipefail\n" +
                   mount_data(recipe, job->at),
               true});
    }
    const std::string region = " --region " + shell_word(recipe.region);
    std::vector<std::string> notes = slurm_notes(recipe, *job);
    notes.push_back(
        "ParallelCluster's `S3Access` lets nodes do anything in the checkpoint bucket: give the "
        "run "
        "a bucket of its own.");
    for (std::string& note : storage_notes(recipe, Target::parallelcluster))
        notes.push_back(std::move(note));
    if (recipe.purchase == Purchase::commitment)
        notes.push_back(
            "Instances launch on demand; your commitment pays for them. To hold the "
            "capacity too, add `CapacityReservationTarget` to the compute resource.");
    add_readme(d, recipe,
               {.target = Target::parallelcluster,
                .tool = "AWS ParallelCluster " + version("parallelcluster").value,
                .start = start_commands(d, recipe, *job, region),
                .tear_down = tear_down(d, recipe, *job, region),
                .notes = std::move(notes),
                .more_per_hour = "the head node (" + recipe.head_node +
                                 (recipe.lustre ? ") and the file system" : ")")});
    return d;
}

}  // namespace trainyard::render
