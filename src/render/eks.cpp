// Amazon EKS: Karpenter makes the nodes, Kueue admits the run whole, Kubeflow Trainer or JobSet
// runs it.

#include <fmt/format.h>

#include "ec2_requests.hpp"
#include "eks_nodes.hpp"
#include "iam.hpp"
#include "kubernetes.hpp"
#include "ledger.hpp"
#include "placeholders.hpp"
#include "readme.hpp"
#include "render_target.hpp"
#include "trainyard/render/text.hpp"

namespace trainyard::render {

namespace {

using doc::Node;

/// A Job adds "-node-0", a pod five more characters and its index: all within 63.
constexpr NameRule kName = {
    "a name of Kubernetes objects", 40, false,
    "https://kubernetes.io/docs/concepts/overview/working-with-objects/names/"};
constexpr const char* kSpace = "training";

constexpr std::string_view kGpuOperator = R"(# Driver and container toolkit are in the EKS image.
driver:
  enabled: false
toolkit:
  enabled: false
# NCCL does not run between MIG slices, and the plan uses whole GPUs.
mig:
  strategy: none
migManager:
  enabled: false
daemonsets:
  tolerations:
    - key: nvidia.com/gpu
      operator: Exists
      effect: NoSchedule
dcgmExporter:
  enabled: true
)";

constexpr std::string_view kNeuron = R"(# The device plugin alone: pods take whole chips.
devicePlugin:
  tolerations:
    - key: aws.amazon.com/neuron
      operator: Exists
      effect: NoSchedule
scheduler:
  enabled: false
npd:
  enabled: false
)";

constexpr std::string_view kEfaPlugin = R"(tolerations:
  - key: CriticalAddonsOnly
    operator: Exists
  - key: {}
    operator: Exists
    effect: NoSchedule
)";

/// All or nothing: a run whose pods are not all ready in time gives its nodes back and queues.
constexpr std::string_view kKueue = R"(managerConfig:
  controllerManagerConfigYaml: |-
    apiVersion: config.kueue.x-k8s.io/v1beta2
    kind: Configuration
    # Half a gang costs money and trains nothing: if its nodes do not come, it makes room.
    waitForPodsReady:
      timeout: 30m
      recoveryTimeout: 30m
      blockAdmission: false
      requeuingStrategy:
        timestamp: Eviction
        backoffBaseSeconds: 300
        backoffMaxSeconds: 3600
    integrations:
      frameworks:
        - batch/job
        - jobset.x-k8s.io/jobset
        - trainer.kubeflow.org/trainjob
)";

Node restart_policy(const Recipe& r) {
    Node n = Node::map();
    n.set("#", "a lost node ends all pods; they start again together from the last checkpoint");
    n.set("maxRestarts", restarts(r));
    n.set("restartStrategy", "BlockingRecreate");
    return n;
}

Node queued(Node object, const KubernetesRun& run) {
    Node m = *object.find("metadata");
    m.set("labels", string_map({{"kueue.x-k8s.io/queue-name", run.name}}));
    object.set("metadata", std::move(m));
    return object;
}

Node replicated_job(Node job_template) {
    Node n = Node::map();
    n.set("name", "node").set("replicas", 1).set("template", std::move(job_template));
    return n;
}

Node job_set(const Recipe& r, const KubernetesRun& run) {
    const Pairs launcher = {{"PET_NNODES", std::to_string(r.nodes)},
                            {"PET_NODE_RANK", "@RUN_INDEX@"},
                            {"PET_NPROC_PER_NODE", std::to_string(run.launch.ranks_per_node)},
                            {"PET_MASTER_ADDR", run.name + "-node-0-0." + run.name},
                            {"PET_MASTER_PORT", "29500"}};
    Node job = Node::map();
    job.set("parallelism", r.nodes).set("completions", r.nodes).set("completionMode", "Indexed");
    job.set("backoffLimit", 0).set("template", pod_template(r, run, launcher));
    Node job_template = Node::map();
    job_template.set("spec", std::move(job));
    Node network = Node::map();
    network.set("enableDNSHostnames", true).set("publishNotReadyAddresses", true);
    Node spec = Node::map();
    spec.set("network", std::move(network)).set("failurePolicy", restart_policy(r));
    spec.set("replicatedJobs", one_item(replicated_job(std::move(job_template))));
    Node n = manifest("jobset.x-k8s.io/v1alpha2", "JobSet", run.name, run.space);
    n.set("spec", std::move(spec));
    return queued(std::move(n), run);
}

/// Trainer sets torchrun's variables itself.
Node runtime(const Recipe& r, const KubernetesRun& run) {
    Node job = Node::map();
    job.set("backoffLimit", 0).set("template", pod_template(r, run, {}));
    Node labels = Node::map();
    labels.set("labels", string_map({{"trainer.kubeflow.org/trainjob-ancestor-step", "trainer"}}));
    Node job_template = Node::map();
    job_template.set("metadata", std::move(labels)).set("spec", std::move(job));
    Node set = Node::map();
    set.set("failurePolicy", restart_policy(r));
    set.set("replicatedJobs", one_item(replicated_job(std::move(job_template))));
    Node of_set = Node::map();
    of_set.set("spec", std::move(set));
    Node policy = Node::map();
    policy.set("numNodes", r.nodes).set("torch", Node::map());
    Node spec = Node::map();
    spec.set("mlPolicy", std::move(policy)).set("template", std::move(of_set));
    Node n = manifest("trainer.kubeflow.org/v1alpha1", "TrainingRuntime", run.name, run.space);
    Node m = *n.find("metadata");
    m.set("labels", string_map({{"trainer.kubeflow.org/framework", "torch"}}));
    n.set("metadata", std::move(m)).set("spec", std::move(spec));
    return n;
}

Node train_job(const Recipe& r, const KubernetesRun& run) {
    Node resources = Node::map();
    resources.set("requests", pod_resources(run)).set("limits", pod_resources(run));
    Node trainer = Node::map();
    trainer.set("image", run.image).set("numNodes", r.nodes);
    trainer.set("numProcPerNode", run.launch.ranks_per_node);
    trainer.set("command", string_list(pod_command(run)));
    trainer.set("resourcesPerNode", std::move(resources));
    Node spec = Node::map();
    spec.set("runtimeRef", string_map({{"apiGroup", "trainer.kubeflow.org"},
                                       {"kind", "TrainingRuntime"},
                                       {"name", run.name}}));
    spec.set("trainer", std::move(trainer));
    Node n = manifest("trainer.kubeflow.org/v1alpha1", "TrainJob", run.name, run.space);
    n.set("spec", std::move(spec));
    return queued(std::move(n), run);
}

void add_values(Directory& out, const Recipe& r, const KubernetesRun& run) {
    const std::string head = head_comment("#", r, Target::eks);
    if (r.is_trainium()) {
        out.add({"helm/neuron-values.yaml", head + std::string(kNeuron)});
    } else {
        out.add({"helm/gpu-operator-values.yaml", head + std::string(kGpuOperator)});
    }
    if (run.pod.efa > 0)
        out.add({"helm/efa-device-plugin-values.yaml",
                 head + fmt::format(fmt::runtime(kEfaPlugin), run.pod.device)});
    out.add({"helm/kueue-values.yaml", head + std::string(kKueue)});
    std::string karpenter =
        head + "settings:\n  clusterName: " + std::string(kCluster.value) + "\n";
    if (has_spot(r))
        karpenter +=
            "  # The queue's name, not its address: EventBridge sends spot warnings there.\n"
            "  interruptionQueue: " +
            std::string(kCluster.value) + "\n";
    out.add({"helm/karpenter-values.yaml", karpenter});
}

std::string helm(const std::string& name, const std::string& chart, std::string_view key,
                 const std::string& values) {
    return fmt::format(
        "helm upgrade --install {} {} --version {} --namespace {} --create-namespace "
        "-f helm/{}-values.yaml",
        name, chart, version(key).value, name == "kueue" ? "kueue-system" : "kube-system", values);
}

std::vector<std::string> start(const Directory& out, const Recipe& r, const KubernetesRun& run) {
    std::vector<std::string> c = storage_commands(out, r, run.name);
    const std::string region = " --region " + shell_word(r.region);
    c.push_back(
        fmt::format("aws eks create-pod-identity-association{} --cluster-name {} "
                    "--namespace {} --service-account {} --role-arn arn:{}:iam::{}:role/{}",
                    region, kCluster.value, run.space, run.name, partition(r.region),
                    kAccount.value, run_role_name(run.name)));
    if (needs_placement_group(r))
        c.push_back(
            fmt::format("aws ec2 create-placement-group{} --group-name {} --strategy cluster",
                        region, run.name));
    c.push_back(
        helm("karpenter", "oci://public.ecr.aws/karpenter/karpenter", "karpenter", "karpenter"));
    if (r.is_trainium()) {
        c.push_back(
            "helm upgrade --install neuron oci://public.ecr.aws/neuron/neuron-helm-chart "
            "--namespace kube-system -f helm/neuron-values.yaml");
    } else {
        c.push_back("helm repo add nvidia https://helm.ngc.nvidia.com/nvidia");
        c.push_back(helm("gpu-operator", "nvidia/gpu-operator", "gpu-operator", "gpu-operator"));
    }
    if (run.pod.efa > 0) {
        c.push_back("helm repo add eks https://aws.github.io/eks-charts");
        c.push_back(
            helm("efa", "eks/aws-efa-k8s-device-plugin", "efa-device-plugin", "efa-device-plugin"));
    }
    c.push_back(helm("kueue", "oci://registry.k8s.io/kueue/charts/kueue", "kueue", "kueue"));
    if (!is_array(r)) {
        c.push_back(
            fmt::format("kubectl apply --server-side -k 'https://github.com/kubeflow/trainer.git/"
                        "manifests/overlays/manager?ref=v{}'   # brings JobSet",
                        version("trainer").value));
        c.push_back(
            fmt::format("# or, for jobset.yaml alone: kubectl apply --server-side -f "
                        "https://github.com/kubernetes-sigs/jobset/releases/download/v{}/"
                        "manifests.yaml",
                        version("jobset").value));
    }
    for (std::string& line : block_commands(out, r)) c.push_back(std::move(line));
    c.push_back("kubectl apply -f workspace.yaml -f queue.yaml -f nodes.yaml" +
                std::string(out.find("storage.yaml") != nullptr ? " -f storage.yaml" : ""));
    c.push_back(is_array(r) ? "kubectl apply -f job.yaml"
                            : "kubectl apply -f trainjob.yaml   # or jobset.yaml, without Trainer");
    return c;
}

std::vector<std::string> tear_down(const Directory& out, const Recipe& r,
                                   const KubernetesRun& run) {
    std::vector<std::string> c = {
        is_array(r) ? "kubectl delete -f job.yaml"
                    : "kubectl delete -f trainjob.yaml -f jobset.yaml "
                      "--ignore-not-found",
        "kubectl delete -f nodes.yaml   # waits until EC2 has the nodes back",
        "kubectl delete -f queue.yaml" +
            std::string(out.find("storage.yaml") != nullptr ? " -f storage.yaml" : "")};
    for (std::string& line : leave_namespace(r, run)) c.push_back(std::move(line));
    c.push_back("# the controllers (helm list -A) stay: other runs use them");
    if (needs_placement_group(r))
        c.push_back(fmt::format("aws ec2 delete-placement-group --region {} --group-name {}",
                                shell_word(r.region), run.name));
    const auto rest = storage_tear_down(out, r, run.at, run.name, Target::eks);
    c.insert(c.end(), rest.begin(), rest.end());
    return c;
}

std::vector<std::string> notes(const Recipe& r, const KubernetesRun& run) {
    std::vector<std::string> n = {
        "Needs an EKS cluster of Kubernetes 1.34 to 1.36 with the Pod Identity agent, the VPC CNI "
        "from 1.18.5 (EFA-only interfaces), and Karpenter's two roles: "
        "https://karpenter.sh/docs/getting-started/.",
        "The image `" + run.image +
            "` holds your program, PyTorch with `torchrun`, `bash` and the AWS command line.",
        fmt::format("Written for Karpenter {}, Kueue {}, JobSet {}, Trainer {}; EKS image `{}`.",
                    version("karpenter").value, version("kueue").value, version("jobset").value,
                    version("trainer").value, version("eks.ami").value)};
    if (run.pod.efa > 0) {
        n.push_back(fmt::format(
            "Karpenter attaches EFA interfaces because the pods ask for `vpc.amazonaws.com/efa: "
            "{}`, all that the type has. They ask for no huge pages: with such a request Karpenter "
            "starts no node unless a NodeOverlay announces them.",
            run.pod.efa));
    }
    if (has_spot(r)) {
        n.push_back(
            "Spot warnings reach Karpenter only by the interruption queue "
            "(`settings.interruptionQueue`); without it a run loses the two minutes.");
    }
    if (r.block_days) {
        n.push_back(
            "The Capacity Block's nodes have capacity type `reserved` and are drained ten minutes "
            "before EC2 takes them, which is half an hour before the block ends.");
    }
    for (std::string& note : driver_notes(r)) n.push_back(std::move(note));
    for (std::string& note : storage_notes(r, Target::eks)) n.push_back(std::move(note));
    n.insert(n.end(), run.launch.expects.begin(), run.launch.expects.end());
    return n;
}

}  // namespace

Result<Directory> render_eks(const Recipe& r, const Options& options) {
    if (options.openzfs) {
        return refuse(r, "the pods of the EKS rendering mount no OpenZFS",
                      "their images and ConfigMaps hold what home directories would",
                      "--target ec2-fleet");
    }
    auto made = kubernetes_run(r, options, Target::eks, kName, kSpace);
    if (!made) return made.error();
    KubernetesRun& run = *made;
    run.selector = {{"node.kubernetes.io/instance-type", r.instance.type},
                    {"trainyard-run", run.name}};
    Directory out;
    out.add({"nodes.yaml", manifests(r, Target::eks, karpenter_nodes(r, run))});
    add_workspace(out, r, run);
    if (is_array(r)) {
        out.add({"job.yaml", manifests(r, Target::eks, {array_job(r, run)})});
    } else {
        out.add({"trainjob.yaml", manifests(r, Target::eks, {runtime(r, run), train_job(r, run)})});
        out.add({"jobset.yaml", manifests(r, Target::eks, {job_set(r, run)})});
    }
    add_values(out, r, run);
    add_block_purchase(out, r, run.name, r.purchase == Purchase::mixed ? r.base_nodes : r.nodes);
    add_storage(out, r, run.at, run.name, {});
    add_iam(out, r, Target::eks, run.at, run.name);
    add_readme(out, r,
               {.target = Target::eks,
                .tool = "Amazon EKS with Karpenter " + version("karpenter").value,
                .start = start(out, r, run),
                .tear_down = tear_down(out, r, run),
                .notes = notes(r, run),
                .more_per_hour = control_plane(r) + " and the nodes of the controllers"});
    return out;
}

}  // namespace trainyard::render
