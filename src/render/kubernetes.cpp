#include "kubernetes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "kubernetes_scripts.hpp"
#include "ledger.hpp"
#include "limits.hpp"
#include "placeholders.hpp"
#include "render_target.hpp"
#include "trainyard/base/text.hpp"
#include "trainyard/render/text.hpp"

namespace trainyard::render {

namespace {

using doc::Node;

constexpr const char* kConfig = "/etc/trainyard";
constexpr const char* kScratch = "/scratch";
constexpr const char* kLustre = "/fsx";
constexpr const char* kData = "/data";
/// Where a string of ours names the run of an array; no other '$' survives.
constexpr std::string_view kIndexMark = "@RUN_INDEX@";
/// Seconds that EC2 gives a spot instance, less what the node needs to notice.
constexpr int kSpotGrace = 110;
/// Karpenter drains a Capacity Block ten minutes before EC2 takes it.
constexpr int kGrace = 540;

/// `s` as it stands, although Kubernetes expands "$(NAME)" in commands and environments.
std::string literal(std::string_view s) {
    std::string out;
    for (char c : s) out += c == '$' ? "$$" : std::string(1, c);
    for (std::size_t at; (at = out.find(kIndexMark)) != std::string::npos;)
        out.replace(at, kIndexMark.size(), "$(RUN_INDEX)");
    return out;
}

bool has_lustre(const Recipe& r) { return r.data_place == DataPlace::lustre; }

Places places(const Recipe& r) {
    Places p;
    p.config = kConfig;
    p.data = has_lustre(r)                           ? std::string(kLustre) + "/data"
             : r.data_place == DataPlace::local_nvme ? std::string(kScratch) + "/data"
                                                     : kData;
    p.checkpoint = std::string(has_lustre(r) ? kLustre : kScratch) + "/checkpoints";
    if (is_array(r)) p.checkpoint += "/" + std::string(kIndexMark);
    return p;
}

PodSize pod_size(const Recipe& r) {
    const int share = is_array(r) ? r.jobs_per_node : 1;
    PodSize p;
    p.device = r.is_trainium() ? "aws.amazon.com/neuron" : "nvidia.com/gpu";
    p.devices = std::max(1, r.instance.accelerators / share);
    p.efa = r.uses_efa() ? r.instance.efa_interfaces : 0;
    // What Karpenter and the kubelet hold back, and the daemons of the node.
    const double memory = r.instance.memory / kGiB;
    const double usable = memory * (1 - limit("kubernetes.memory_overhead")) -
                          memory * limit("kubernetes.memory_daemons") -
                          limit("kubernetes.memory_reserved");
    const double cpus =
        r.instance.vcpu - std::ceil(r.instance.vcpu / limit("kubernetes.cpu_reserved"));
    p.memory_gib = std::max(1, static_cast<int>(usable / share));
    p.cpu = std::max(1, static_cast<int>(cpus / share));
    p.at_once = is_array(r) ? std::min(r.copies, r.nodes * r.jobs_per_node) : r.nodes;
    return p;
}

Node metadata(std::string_view name, std::string_view space) {
    Node m = Node::map();
    m.set("name", name);
    if (!space.empty()) m.set("namespace", space);
    return m;
}

Node mount(std::string_view name, std::string_view path, bool read_only = false) {
    Node n = Node::map();
    n.set("name", name).set("mountPath", path);
    if (read_only) n.set("readOnly", true);
    return n;
}

Node volume(std::string_view name, const char* kind, Node what) {
    Node n = Node::map();
    n.set("name", name).set(kind, std::move(what));
    return n;
}

Node claim(std::string_view name) {
    Node n = Node::map();
    n.set("claimName", name);
    return n;
}

Node volumes(const Recipe& r, const KubernetesRun& run) {
    Node scripts = Node::map();
    scripts.set("name", run.name).set("#", "0555").set("defaultMode", 0555);
    Node shm = Node::map();
    shm.set("#", "counts as memory of the pod: NCCL and data loaders share it between ranks");
    shm.set("medium", "Memory")
        .set("sizeLimit", fmt::format("{}Gi", std::max(1, run.pod.memory_gib / 4)));
    Node list = Node::list();
    list.append(volume("scripts", "configMap", std::move(scripts)));
    list.append(volume("shm", "emptyDir", std::move(shm)));
    if (has_lustre(r)) {
        list.append(volume("fsx", "persistentVolumeClaim", claim(run.name + "-fsx")));
        return list;
    }
    list.append(volume("scratch", "emptyDir", Node::map()));
    if (r.data_place == DataPlace::s3)
        list.append(volume("data", "persistentVolumeClaim", claim(run.name + "-data")));
    return list;
}

Node mounts(const Recipe& r) {
    Node list = Node::list();
    list.append(mount("scripts", kConfig, true)).append(mount("shm", "/dev/shm"));
    if (has_lustre(r)) {
        list.append(mount("fsx", kLustre));
        return list;
    }
    list.append(mount("scratch", kScratch));
    if (r.data_place == DataPlace::s3) list.append(mount("data", kData, true));
    return list;
}

Node variable(std::string_view name, std::string_view value) {
    Node n = Node::map();
    n.set("name", name).set("value", literal(value));
    return n;
}

/// The pod's number in its Job.
Node index_variable(std::string_view name) {
    Node field = Node::map();
    field.set("fieldPath", "metadata.annotations['batch.kubernetes.io/job-completion-index']");
    Node from = Node::map();
    from.set("fieldRef", std::move(field));
    Node n = Node::map();
    n.set("name", name).set("valueFrom", std::move(from));
    return n;
}

Node environment_of(const KubernetesRun& run, const Pairs& launcher, bool array) {
    Node list = Node::list();
    if (array) list.append(index_variable("RUN_INDEX"));
    for (const auto& [name, value] : launcher) {
        list.append(value == kIndexMark ? index_variable(name) : variable(name, value));
    }
    for (const auto& [name, value] : run.environment) list.append(variable(name, value));
    return list;
}

Node container(const Recipe& r, const KubernetesRun& run, const Pairs& launcher) {
    Node resources = Node::map();
    resources.set("requests", pod_resources(run)).set("limits", pod_resources(run));
    Node c = Node::map();
    c.set("name", "node").set("image", run.image);
    c.set("command", string_list(pod_command(run)));
    c.set("env", environment_of(run, launcher, is_array(r)));
    c.set("resources", std::move(resources)).set("volumeMounts", mounts(r));
    return c;
}

PodScriptParts script_parts(const Recipe& r, const Launch& launch) {
    return {.stages_data = r.data_place == DataPlace::local_nvme,
            .shares_files = has_lustre(r),
            .resumes = r.resume != workload::Resume::none,
            .framework = launch.framework,
            .notice = launch.notice};
}

/// A block scalar where every parser reads it back as it stands: printable ASCII, indented by us.
std::string yaml_text(const std::string& text) {
    const bool plain = !text.empty() && text.front() > ' ' && text.back() == '\n' &&
                       !text.ends_with("\n\n") && std::all_of(text.begin(), text.end(), [](char c) {
                           return c == '\n' || (c >= ' ' && c < '\x7f');
                       });
    if (!plain) return " " + yaml_string(text) + "\n";
    std::string out = " |\n";
    for (std::string_view line : split(std::string_view(text).substr(0, text.size() - 1), '\n'))
        out += (line.empty() ? "" : "    " + std::string(line)) + "\n";
    return out;
}

std::string scripts_map(const Recipe& r, const KubernetesRun& run) {
    std::string s = write_yaml(manifest("v1", "ConfigMap", run.name, run.space)) + "data:\n";
    const auto add = [&s](const std::string& name, const std::string& text) {
        s += "  " + yaml_string(name) + ":" + yaml_text(text);
    };
    add("run.sh", "#!/bin/bash\n" + pod_script(script_parts(r, run.launch)));
    for (const File& f : run.launch.files) add(f.path, f.content);
    return s;
}

/// A volume that is there already, and the claim that binds to it and nothing else.
std::vector<Node> volume_and_claim(const KubernetesRun& run, const std::string& name, double gib,
                                   const char* access, Node csi, const Node& options) {
    const std::string size = fmt::format("{:.0f}Gi", std::max(1.0, gib));
    Node capacity = string_map({{"storage", size}});
    Node spec = Node::map();
    spec.set("capacity", capacity).set("accessModes", string_list({access}));
    spec.set("mountOptions", options).set("persistentVolumeReclaimPolicy", "Retain");
    spec.set("storageClassName", "").set("csi", std::move(csi));
    Node pv = manifest("v1", "PersistentVolume", name, "");
    pv.set("spec", std::move(spec));
    Node resources = Node::map();
    resources.set("requests", std::move(capacity));
    Node wish = Node::map();
    wish.set("accessModes", string_list({access})).set("storageClassName", "");
    wish.set("volumeName", name).set("resources", std::move(resources));
    Node pvc = manifest("v1", "PersistentVolumeClaim", name, run.space);
    pvc.set("spec", std::move(wish));
    return {std::move(pv), std::move(pvc)};
}

std::vector<Node> lustre_volume(const Recipe& r, const KubernetesRun& run) {
    const std::string id(kFileSystem.value);
    Node csi = Node::map();
    csi.set("driver", "fsx.csi.aws.com").set("volumeHandle", id);
    csi.set("volumeAttributes",
            string_map({{"dnsname", fmt::format("{}.fsx.{}.amazonaws.com", id, r.region)},
                        {"mountname", std::string(kMountName.value)}}));
    return volume_and_claim(run, run.name + "-fsx", lustre_size(r).gib, "ReadWriteMany",
                            std::move(csi), string_list({"flock"}));
}

std::vector<Node> bucket_volume(const Recipe& r, const KubernetesRun& run) {
    Node csi = Node::map();
    csi.set("driver", "s3.csi.aws.com").set("volumeHandle", run.name + "-data");
    csi.set("volumeAttributes", string_map({{"bucketName", run.at.data.bucket}}));
    std::vector<std::string> options = {"read-only", "region " + r.region};
    if (!run.at.data.prefix.empty()) options.push_back("prefix " + run.at.data.prefix + "/");
    return volume_and_claim(run, run.name + "-data", std::ceil(r.dataset / kGiB), "ReadOnlyMany",
                            std::move(csi), string_list(options));
}

/// Kueue: quotas that are exactly the plan, so that a run is admitted whole or waits whole.
std::vector<Node> queue(const KubernetesRun& run) {
    Node labels = Node::map();
    labels.set("nodeLabels", string_map(run.selector));
    Node flavor = manifest("kueue.x-k8s.io/v1beta2", "ResourceFlavor", run.name, "");
    flavor.set("spec", std::move(labels));
    std::vector<std::string> covered;
    Node quotas = Node::list();
    const std::int64_t n = run.pod.at_once;
    const auto quota = [&](const std::string& name, const std::string& amount) {
        covered.push_back(name);
        quotas.append(string_map({{"name", name}, {"nominalQuota", amount}}));
    };
    quota("cpu", std::to_string(n * run.pod.cpu));
    quota("memory", fmt::format("{}Gi", n * run.pod.memory_gib));
    quota(run.pod.device, std::to_string(n * run.pod.devices));
    if (run.pod.efa > 0) quota("vpc.amazonaws.com/efa", std::to_string(n * run.pod.efa));
    Node of_flavor = Node::map();
    of_flavor.set("name", run.name).set("resources", std::move(quotas));
    Node group = Node::map();
    group.set("coveredResources", string_list(covered));
    group.set("flavors", one_item(std::move(of_flavor)));
    Node match = Node::map();
    match.set("matchLabels", string_map({{"kubernetes.io/metadata.name", run.space}}));
    Node spec = Node::map();
    spec.set("namespaceSelector", std::move(match)).set("queueingStrategy", "StrictFIFO");
    spec.set("resourceGroups", one_item(std::move(group)));
    Node cluster = manifest("kueue.x-k8s.io/v1beta2", "ClusterQueue", run.name, "");
    cluster.set("spec", std::move(spec));
    Node local = manifest("kueue.x-k8s.io/v1beta2", "LocalQueue", run.name, run.space);
    local.set("spec", string_map({{"clusterQueue", run.name}}));
    return {std::move(flavor), std::move(cluster), std::move(local)};
}

}  // namespace

bool is_array(const Recipe& r) { return r.copies > 1; }

Result<KubernetesRun> kubernetes_run(const Recipe& r, const Options& options, Target target,
                                     const NameRule& rule, std::string_view space) {
    if (is_array(r) && r.jobs_per_node > r.instance.accelerators) {
        return refuse(r,
                      fmt::format("{} runs on one node with {} accelerators", r.jobs_per_node,
                                  r.instance.accelerators),
                      "a pod gets whole accelerators", "--target ec2-fleet");
    }
    KubernetesRun run;
    run.target = target;
    run.space = space;
    auto name = job_name(rule, r, options);
    if (!name) return name.error();
    run.name = *std::move(name);
    auto at = run_addresses(options, run.name);
    if (!at) return at.error();
    run.at = *std::move(at);
    const Framework framework = options.framework.value_or(default_framework(r));
    const Places where = places(r);
    auto launch = training_command(r, framework, where);
    if (!launch) return launch.error();
    run.launch = *std::move(launch);
    run.pod = pod_size(r);
    run.image =
        fmt::format("{}.dkr.ecr.{}.{}/{}:fill-in-tag", kAccount.value, r.region,
                    r.region.starts_with("cn-") ? "amazonaws.com.cn" : "amazonaws.com", run.name);
    const std::string index = is_array(r) ? "/" + std::string(kIndexMark) : "";
    run.environment = {{"AWS_REGION", r.region},
                       {"DATA_S3", run.at.data.text()},
                       {"DATA_DIR", where.data},
                       {"CHECKPOINT_S3", run.at.checkpoint.text() + index},
                       {"CHECKPOINT_DIR", where.checkpoint}};
    for (const EnvVariable& v : environment(r, framework))
        run.environment.emplace_back(v.name, v.value);
    return run;
}

Node string_map(const Pairs& pairs) {
    Node m = Node::map();
    for (const auto& [key, value] : pairs) m.set(key, value);
    return m;
}

Node string_list(const std::vector<std::string>& words) {
    Node list = Node::list();
    for (const std::string& w : words) list.append(Node::string(w));
    return list;
}

Node one_item(Node item) {
    Node list = Node::list();
    list.append(std::move(item));
    return list;
}

Node manifest(std::string_view api, std::string_view kind, std::string_view name,
              std::string_view space) {
    Node n = Node::map();
    n.set("apiVersion", api).set("kind", kind).set("metadata", metadata(name, space));
    return n;
}

std::string manifests(const Recipe& r, Target target, const std::vector<Node>& all) {
    std::string s = head_comment("#", r, target);
    for (const Node& n : all) s += "---\n" + write_yaml(n);
    return s;
}

std::vector<std::string> pod_command(const KubernetesRun& run) {
    std::vector<std::string> words = {"/bin/bash", std::string(kConfig) + "/run.sh"};
    for (const std::string& w : run.launch.program) words.push_back(literal(w));
    return words;
}

Node pod_resources(const KubernetesRun& run) {
    Pairs pairs = {{"cpu", std::to_string(run.pod.cpu)},
                   {"memory", fmt::format("{}Gi", run.pod.memory_gib)},
                   {run.pod.device, std::to_string(run.pod.devices)}};
    if (run.pod.efa > 0) pairs.emplace_back("vpc.amazonaws.com/efa", std::to_string(run.pod.efa));
    return string_map(pairs);
}

Node pod_template(const Recipe& r, const KubernetesRun& run, const Pairs& launcher) {
    Node toleration = Node::map();
    toleration.set("key", run.pod.device).set("operator", "Exists").set("effect", "NoSchedule");
    Node spec = Node::map();
    spec.set("restartPolicy", "Never").set("serviceAccountName", run.name);
    spec.set("terminationGracePeriodSeconds", has_spot(r) ? kSpotGrace : kGrace);
    spec.set("nodeSelector", string_map(run.selector));
    spec.set("tolerations", one_item(std::move(toleration)));
    spec.set("containers", one_item(container(r, run, launcher)));
    spec.set("volumes", volumes(r, run));
    Node marks = Node::map();
    marks.set("annotations", string_map({{"karpenter.sh/do-not-disrupt", "true"}}));
    Node pod = Node::map();
    pod.set("metadata", std::move(marks)).set("spec", std::move(spec));
    return pod;
}

Node array_job(const Recipe& r, const KubernetesRun& run) {
    Node condition = Node::map();
    condition.set("type", "DisruptionTarget").set("status", "True");
    Node rule = Node::map();
    rule.set("#", "a pod whose node was taken away is started again and counts as no failure");
    rule.set("action", "Ignore").set("onPodConditions", one_item(std::move(condition)));
    Node policy = Node::map();
    policy.set("rules", one_item(std::move(rule)));
    Node spec = Node::map();
    spec.set("completionMode", "Indexed").set("completions", r.copies);
    spec.set("parallelism", run.pod.at_once).set("backoffLimit", r.copies);
    spec.set("podFailurePolicy", std::move(policy));
    spec.set("template",
             pod_template(r, run,
                          {{"PET_NNODES", "1"},
                           {"PET_NODE_RANK", "0"},
                           {"PET_NPROC_PER_NODE", std::to_string(run.launch.ranks_per_node)}}));
    Node job = Node::map();
    job.set("apiVersion", "batch/v1").set("kind", "Job");
    Node m = metadata(run.name, run.space);
    m.set("labels", string_map({{"kueue.x-k8s.io/queue-name", run.name}}));
    job.set("metadata", std::move(m)).set("spec", std::move(spec));
    return job;
}

void add_workspace(Directory& out, const Recipe& r, const KubernetesRun& run) {
    out.add({"workspace.yaml", manifests(r, run.target,
                                         {manifest("v1", "Namespace", run.space, ""),
                                          manifest("v1", "ServiceAccount", run.name, run.space)}) +
                                   "---\n" + scripts_map(r, run)});
    if (has_lustre(r))
        out.add({"storage.yaml", manifests(r, run.target, lustre_volume(r, run))});
    else if (r.data_place == DataPlace::s3)
        out.add({"storage.yaml", manifests(r, run.target, bucket_volume(r, run))});
    out.add({"queue.yaml", manifests(r, run.target, queue(run))});
}

bool has_spot(const Recipe& r) {
    return r.purchase == Purchase::spot || r.purchase == Purchase::mixed;
}

int restarts(const Recipe& r) {
    if (r.resume == workload::Resume::none) return 0;
    return has_spot(r) ? 100 : 20;
}

std::vector<std::string> driver_notes(const Recipe& r) {
    if (r.data_place == DataPlace::local_nvme) return {};
    if (has_lustre(r))
        return {
            "`storage.yaml` needs the EKS add-on `aws-fsx-csi-driver`, and the nodes' group the "
            "ports 988 and 1018 to 1023 of the file system's."};
    return {
        "`storage.yaml` needs the EKS add-on `aws-mountpoint-s3-csi-driver`, with a role of its "
        "own that may list and read the data bucket."};
}

std::vector<std::string> leave_namespace(const Recipe& r, const KubernetesRun& run) {
    const std::string of =
        fmt::format(" --region {} --cluster-name {}", shell_word(r.region), kCluster.value);
    return {fmt::format("kubectl -n {0} delete serviceaccount/{1} configmap/{1}   # the namespace "
                        "stays: other runs may be in it",
                        run.space, run.name),
            fmt::format("aws eks delete-pod-identity-association{0} --association-id $(aws eks "
                        "list-pod-identity-associations{0} --namespace {1} --service-account {2} "
                        "--query 'associations[].associationId' --output text)",
                        of, run.space, run.name)};
}

std::string control_plane(const Recipe& r) {
    if (!r.control_plane) return "the EKS control plane";
    return fmt::format("the EKS control plane (${:.2f}/h, price of {})", r.control_plane->value,
                       r.control_plane->provenance.as_of);
}

}  // namespace trainyard::render
