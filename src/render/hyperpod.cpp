// SageMaker HyperPod, orchestrated by EKS: CreateCluster, and the run as a PyTorchJob of the
// Kubeflow training operator, which HyperPod's own charts install.

#include <fmt/format.h>

#include "eks_nodes.hpp"
#include "iam.hpp"
#include "kubernetes.hpp"
#include "ledger.hpp"
#include "limits.hpp"
#include "placeholders.hpp"
#include "readme.hpp"
#include "render_target.hpp"
#include "trainyard/render/text.hpp"

namespace trainyard::render {

namespace {

using doc::Node;

constexpr NameRule kName = {
    "a name of a HyperPod cluster and of Kubernetes objects", 40, false,
    "https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_CreateCluster.html"};
/// HyperPod resumes jobs in "kubeflow" and in namespaces that begin with "hyperpod".
constexpr const char* kSpace = "hyperpod-training";
constexpr const char* kRequest = "sagemaker.create-cluster.json";

constexpr std::string_view kOnCreate = R"sh(
# Runs on each new node before it joins the cluster. The image is ready as it is: add what your
# nodes need.
set -euo pipefail
echo "$(hostname) joins"
)sh";

std::optional<Error> refuse_plan(const Recipe& r, const Options& options) {
    if (r.purchase == Purchase::capacity_block || r.block_days) {
        return refuse(r, "HyperPod cannot use an EC2 Capacity Block",
                      "its instances belong to SageMaker, which sells such capacity as training "
                      "plans",
                      "--target eks or parallelcluster");
    }
    if (r.purchase == Purchase::commitment) {
        return refuse(r, "an EC2 commitment does not pay for HyperPod",
                      "its instances belong to SageMaker, which has Savings Plans of its own",
                      "--target eks or parallelcluster");
    }
    if (!hyperpod_has(r.instance.type)) {
        return refuse(r, "HyperPod has no " + r.instance.type,
                      "the type is not among those of CreateCluster "
                      "(data/render/hyperpod_instances.csv)",
                      "--target eks or ec2-fleet");
    }
    if (options.openzfs) {
        return refuse(r, "the pods of the HyperPod rendering mount no OpenZFS",
                      "their images and ConfigMaps hold what home directories would",
                      "--target ec2-fleet");
    }
    return std::nullopt;
}

std::string role_arn(const Recipe& r, std::string_view role) {
    return fmt::format("arn:{}:iam::{}:role/{}", partition(r.region), kAccount.value, role);
}

Node instance_group(const Recipe& r, const KubernetesRun& run, const NodePart& part) {
    Node script = Node::map();
    script.set("SourceS3Uri", std::string(kLifecycle.value) + "/" + run.name);
    script.set("OnCreate", "on_create.sh");
    Node volume = Node::map();
    volume.set("VolumeSizeInGB",
               static_cast<std::int64_t>(
                   limit(r.is_trainium() ? "ec2.root_volume_neuron" : "ec2.root_volume")));
    Node storage = Node::map();
    storage.set("EbsVolumeConfig", std::move(volume));
    Node capacity = Node::map();
    capacity.set(part.purchase == Purchase::spot ? "Spot" : "OnDemand", Node::map());
    Node labels = Node::map();
    labels.set("Labels", string_map({{"trainyard-run", run.name}}));
    Node g = Node::map();
    g.set("InstanceGroupName", part.name).set("InstanceType", "ml." + r.instance.type);
    g.set("InstanceCount", part.nodes);
    g.set("ExecutionRole", role_arn(r, kHyperPodRole.value));
    g.set("LifeCycleConfig", std::move(script)).set("CapacityRequirements", std::move(capacity));
    g.set("InstanceStorageConfigs", one_item(std::move(storage)));
    g.set("KubernetesConfig", std::move(labels));
    return g;
}

Node create_cluster(const Recipe& r, const KubernetesRun& run) {
    Node eks = Node::map();
    eks.set("ClusterArn", fmt::format("arn:{}:eks:{}:{}:cluster/{}", partition(r.region), r.region,
                                      kAccount.value, kCluster.value));
    Node orchestrator = Node::map();
    orchestrator.set("Eks", std::move(eks));
    Node vpc = Node::map();
    vpc.set("SecurityGroupIds", string_list({std::string(kSecurityGroup.value)}));
    vpc.set("Subnets", string_list({std::string(kPrivateSubnet.value)}));
    Node groups = Node::list();
    for (const NodePart& part : node_parts(r, run.name))
        groups.append(instance_group(r, run, part));
    Node n = Node::map();
    n.set("ClusterName", run.name).set("Orchestrator", std::move(orchestrator));
    n.set("InstanceGroups", std::move(groups)).set("VpcConfig", std::move(vpc));
    n.set("NodeRecovery", "Automatic").set("NodeProvisioningMode", "Continuous");
    n.set("Tags", aws_tags(r, run.name));
    return n;
}

Node replica(const Recipe& r, const KubernetesRun& run, int pods, const Pairs& launcher) {
    Node pod = pod_template(r, run, launcher);
    // The operator adds its own variables to the container with this name.
    Node spec = *pod.find("spec");
    Node container = spec.find("containers")->items()[0];
    container.set("name", "pytorch");
    spec.set("containers", one_item(std::move(container)));
    pod.set("spec", std::move(spec));
    Node n = Node::map();
    n.set("replicas", pods).set("restartPolicy", "OnFailure").set("template", std::move(pod));
    return n;
}

Node pytorch_job(const Recipe& r, const KubernetesRun& run) {
    Node policy = Node::map();
    policy.set("cleanPodPolicy", "None");
    const int again = restarts(r);
    policy.set("backoffLimit", again);
    Node replicas = Node::map();
    replicas.set("Master", replica(r, run, 1, {}));
    if (r.nodes > 1) replicas.set("Worker", replica(r, run, r.nodes - 1, {}));
    Node spec = Node::map();
    spec.set("nprocPerNode", std::to_string(run.launch.ranks_per_node));
    spec.set("runPolicy", std::move(policy)).set("pytorchReplicaSpecs", std::move(replicas));
    Node n = manifest("kubeflow.org/v1", "PyTorchJob", run.name, run.space);
    Node m = *n.find("metadata");
    m.set("labels", string_map({{"kueue.x-k8s.io/queue-name", run.name}}));
    if (again > 0)
        m.set("annotations",
              string_map({{"sagemaker.amazonaws.com/enable-job-auto-resume", "true"},
                          {"sagemaker.amazonaws.com/job-max-retry-count", std::to_string(again)}}));
    n.set("metadata", std::move(m)).set("spec", std::move(spec));
    return n;
}

std::vector<std::string> start(const Directory& out, const Recipe& r, const KubernetesRun& run) {
    std::vector<std::string> c = storage_commands(out, r, run.name);
    const std::string region = " --region " + shell_word(r.region);
    c.push_back(fmt::format("aws s3 cp on_create.sh {}/{}/", kLifecycle.value, run.name));
    c.push_back(send_request(r, *out.find(kRequest)));
    c.push_back(fmt::format(
        "aws eks create-pod-identity-association{} --cluster-name {} "
        "--namespace {} --service-account {} --role-arn {}",
        region, kCluster.value, run.space, run.name, role_arn(r, run_role_name(run.name))));
    c.push_back(std::string("kubectl apply -f workspace.yaml -f queue.yaml") +
                (out.find("storage.yaml") != nullptr ? " -f storage.yaml" : ""));
    c.push_back("kubectl apply -f job.yaml");
    return c;
}

std::vector<std::string> tear_down(const Directory& out, const Recipe& r,
                                   const KubernetesRun& run) {
    std::vector<std::string> c = {
        std::string("kubectl delete -f job.yaml -f queue.yaml") +
            (out.find("storage.yaml") != nullptr ? " -f storage.yaml" : ""),
        fmt::format("aws sagemaker delete-cluster --region {} --cluster-name {}",
                    shell_word(r.region), run.name)};
    for (std::string& line : leave_namespace(r, run)) c.push_back(std::move(line));
    c.push_back(fmt::format("aws s3 rm --recursive {}/{}/", kLifecycle.value, run.name));
    const auto rest = storage_tear_down(out, r, run.at, run.name, Target::hyperpod);
    c.insert(c.end(), rest.begin(), rest.end());
    return c;
}

std::vector<std::string> notes(const Recipe& r, const KubernetesRun& run) {
    std::vector<std::string> n = {
        "The EKS cluster is there already, with HyperPod's Helm chart (device plugins, health "
        "monitoring, Kubeflow training operator) and Kueue " +
            version("kueue").value + ".",
        "The instances are billed from `create-cluster` to `delete-cluster`, run or no run.",
        "SageMaker has its own price for `ml." + r.instance.type +
            "`, usually above EC2's; the figure above is EC2's.",
        "The image `" + run.image +
            "` holds your program, PyTorch with `torchrun`, `bash` and the AWS command line."};
    for (std::string& note : driver_notes(r)) n.push_back(std::move(note));
    for (std::string& note : storage_notes(r, Target::hyperpod)) n.push_back(std::move(note));
    n.insert(n.end(), run.launch.expects.begin(), run.launch.expects.end());
    return n;
}

}  // namespace

Result<Directory> render_hyperpod(const Recipe& r, const Options& options) {
    if (auto no = refuse_plan(r, options)) return *no;
    auto made = kubernetes_run(r, options, Target::hyperpod, kName, kSpace);
    if (!made) return made.error();
    KubernetesRun& run = *made;
    run.selector = {{"node.kubernetes.io/instance-type", "ml." + r.instance.type},
                    {"sagemaker.amazonaws.com/node-health-status", "Schedulable"},
                    {"trainyard-run", run.name}};
    Directory out;
    out.add({kRequest, write_json(create_cluster(r, run))});
    out.add({"on_create.sh",
             "#!/bin/bash\n" + head_comment("#", r, Target::hyperpod) + std::string(kOnCreate),
             true});
    add_workspace(out, r, run);
    out.add({"job.yaml", manifests(r, Target::hyperpod,
                                   {is_array(r) ? array_job(r, run) : pytorch_job(r, run)})});
    add_storage(out, r, run.at, run.name, {});
    add_iam(out, r, Target::hyperpod, run.at, run.name);
    add_readme(out, r,
               {.target = Target::hyperpod,
                .tool = "SageMaker HyperPod on EKS",
                .start = start(out, r, run),
                .tear_down = tear_down(out, r, run),
                .notes = notes(r, run),
                .more_per_hour = control_plane(r)});
    return out;
}

}  // namespace trainyard::render
