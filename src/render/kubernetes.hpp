#pragma once
// What EKS and HyperPod share: the pods of a run, what they mount, and the queue that admits them
// all at once or not at all. Every string of the user's stands in a YAML scalar of its own, never
// inside a script; in a container's command and environment each '$' is doubled, since Kubernetes
// itself expands "$(NAME)" there.

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "launch.hpp"
#include "storage.hpp"
#include "trainyard/doc/node.hpp"
#include "trainyard/render/names.hpp"
#include "trainyard/render/target.hpp"

namespace trainyard::render {

/// What one pod asks for and how many run at once; the pods of a node together fit on it.
struct PodSize {
    std::string device;   ///< "nvidia.com/gpu" or "aws.amazon.com/neuron" (whole chips)
    int devices = 1;      ///< of one pod
    int efa = 0;          ///< interfaces
    int cpu = 1;          ///< whole vCPUs
    int memory_gib = 1;   ///< of RAM, /dev/shm included
    int scratch_gib = 0;  ///< of the node's disk: data, checkpoints
    int at_once = 1;      ///< pods
};

struct KubernetesRun {
    Target target = Target::eks;
    std::string name;
    std::string space;  ///< namespace
    Addresses at;
    Launch launch;
    PodSize pod;
    std::string image;
    std::vector<std::pair<std::string, std::string>> environment;
    std::vector<std::pair<std::string, std::string>> selector;  ///< node labels
};

/// Independent runs, each in a pod of its own: a Job with an index for each.
bool is_array(const Recipe& recipe);

/// Refuses what the pods cannot express. `space`: the namespace.
Result<KubernetesRun> kubernetes_run(const Recipe& recipe, const Options& options, Target target,
                                     const NameRule& rule, std::string_view space);

/// {"key": "value", …} and ["a", …] in the order given.
using Pairs = std::vector<std::pair<std::string, std::string>>;
doc::Node string_map(const Pairs& pairs);
doc::Node string_list(const std::vector<std::string>& words);
doc::Node one_item(doc::Node item);
/// apiVersion, kind and metadata; `space` may be empty.
doc::Node manifest(std::string_view api, std::string_view kind, std::string_view name,
                   std::string_view space);
/// A file of several YAML documents under the head comment.
std::string manifests(const Recipe& recipe, Target target, const std::vector<doc::Node>& all);

/// PodTemplateSpec; `launcher`: the variables of torchrun that nothing else sets in the pod.
doc::Node pod_template(const Recipe& recipe, const KubernetesRun& run, const Pairs& launcher);
/// {"nvidia.com/gpu": "8", …}
doc::Node pod_resources(const KubernetesRun& run);
/// The command of the training container: the script and the program's words.
std::vector<std::string> pod_command(const KubernetesRun& run);
/// A plain Job with one index for each of the recipe's copies.
doc::Node array_job(const Recipe& recipe, const KubernetesRun& run);

bool has_spot(const Recipe& recipe);
/// How often a run starts again before someone should look: neither JobSet nor PyTorchJob can tell
/// a lost node from a program that fails, and spot loses nodes as a matter of course.
int restarts(const Recipe& recipe);

/// For the README: what mounts the data in pods, if anything does.
std::vector<std::string> driver_notes(const Recipe& recipe);

/// Shell commands that take back what belongs to the run alone and no file deletes.
std::vector<std::string> leave_namespace(const Recipe& recipe, const KubernetesRun& run);
/// "the EKS control plane ($0.10/h, …)".
std::string control_plane(const Recipe& recipe);

/// workspace.yaml (namespace, account, scripts), storage.yaml where something is mounted, and
/// queue.yaml (Kueue: quotas that are the plan).
void add_workspace(Directory& out, const Recipe& recipe, const KubernetesRun& run);

}  // namespace trainyard::render
