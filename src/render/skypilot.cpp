// SkyPilot: a task for `sky launch` or, on spot, `sky jobs launch`.
// Reference: https://docs.skypilot.co/en/latest/reference/yaml-spec.html

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "data_mount.hpp"
#include "ec2_requests.hpp"
#include "iam.hpp"
#include "kubernetes_scripts.hpp"
#include "launch.hpp"
#include "ledger.hpp"
#include "limits.hpp"
#include "placeholders.hpp"
#include "readme.hpp"
#include "render_target.hpp"
#include "storage.hpp"
#include "trainyard/base/text.hpp"
#include "trainyard/render/names.hpp"
#include "trainyard/render/text.hpp"

namespace trainyard::render {

namespace {

using doc::Node;

constexpr NameRule kName = {"a SkyPilot cluster name", 40, true,
                            "https://docs.skypilot.co/en/latest/reference/yaml-spec.html"};
constexpr const char* kPlace = "/opt/trainyard";

/// Local disks where the image mounts them, else the root disk.
constexpr std::string_view kSetup = R"sh(scratch=/opt/dlami/nvme
[ -d "$scratch" ] || scratch=$HOME/scratch
mkdir -p "$scratch"
sudo ln -sfn "$scratch" /opt/trainyard
)sh";

constexpr std::string_view kJoin =
    R"sh(export PET_NNODES=$SKYPILOT_NUM_NODES PET_NODE_RANK=$SKYPILOT_NODE_RANK
export PET_MASTER_ADDR=$(head -n 1 <<<"$SKYPILOT_NODE_IPS") PET_MASTER_PORT=29500
)sh";

bool attaches_efa(const Recipe& r) {
    const auto families = split(version("skypilot.efa_families").value, ' ');
    return std::find(families.begin(), families.end(), r.instance.family) != families.end();
}

std::optional<Error> refuse_plan(const Recipe& r, const Options& options) {
    if (r.purchase == Purchase::mixed) {
        return refuse(r, "a SkyPilot cluster cannot mix spot and guaranteed instances",
                      "use_spot holds for all of its nodes", "--target eks or ec2-fleet");
    }
    if (r.copies > 1) {
        return refuse(r, fmt::format("{} independent runs are not one SkyPilot task", r.copies),
                      "a task has a cluster of its own", "--target eks or parallelcluster");
    }
    if (r.uses_efa() && !attaches_efa(r)) {
        return refuse(r, "SkyPilot attaches no EFA to " + r.instance.type,
                      "it does so for " + version("skypilot.efa_families").value + " only (" +
                          version("skypilot").value + ")",
                      "--target eks or parallelcluster");
    }
    if (r.data_place == DataPlace::lustre || options.openzfs) {
        return refuse(r, "SkyPilot mounts no FSx file system",
                      "its storage is buckets and its own volumes",
                      "--target eks or parallelcluster");
    }
    return std::nullopt;
}

std::string data_directory(const Recipe& r) {
    return r.data_place == DataPlace::s3 ? kDataMount : std::string(kPlace) + "/data";
}

std::int64_t disk_gb(const Recipe& r) {
    double gb = limit(r.is_trainium() ? "ec2.root_volume_neuron" : "ec2.root_volume");
    if (!r.instance.local_nvme) gb += std::ceil(2 * (r.checkpoint / kGB));
    return static_cast<std::int64_t>(gb);
}

std::string task(const Recipe& r, const std::string& name, const Addresses& at,
                 const Launch& launch, Framework framework) {
    Node resources = Node::map();
    resources.set("infra", "aws/" + r.region).set("instance_type", r.instance.type);
    resources.set("use_spot", r.purchase == Purchase::spot).set("disk_size", disk_gb(r));
    if (r.uses_efa()) {
        resources.set("#", "EFA; all of its interfaces only with sky-config.yaml");
        resources.set("network_tier", "best");
    }
    Node variables = Node::map();
    variables.set("AWS_REGION", r.region);
    variables.set("DATA_S3", at.data.text()).set("DATA_DIR", data_directory(r));
    variables.set("CHECKPOINT_S3", at.checkpoint.text());
    variables.set("CHECKPOINT_DIR", std::string(kPlace) + "/checkpoints");
    for (const EnvVariable& v : environment(r, framework)) variables.set(v.name, v.value);
    Node root = Node::map();
    root.set("name", name).set("resources", std::move(resources)).set("num_nodes", r.nodes);
    root.set("#", "code/ goes to every node: put your program there");
    root.set("workdir", "code").set("envs", std::move(variables));
    std::string s = head_comment("#", r, Target::skypilot) + write_yaml(root);
    const auto block = [&s](const char* key, const std::string& text) {
        s += std::string(key) + ": |\n";
        for (std::string_view line : split(std::string_view(text), '\n'))
            if (!line.empty()) s += "  " + std::string(line) + "\n";
    };
    std::string setup(kSetup);
    if (const std::string mount = mount_data(r, at); !mount.empty())
        setup += "sudo bash <<'AS_ROOT'\nset -euo pipefail" + mount + "AS_ROOT\n";
    block("setup", setup);
    block("run",
          std::string(kJoin) + fmt::format("export PET_NPROC_PER_NODE={}\nbash run.sh {}\n",
                                           launch.ranks_per_node, shell_words(launch.program)));
    return s;
}

/// What a task cannot say.
std::string config(const Recipe& r, const std::string& name) {
    const bool block = r.purchase == Purchase::capacity_block;
    Node controller = Node::map();
    controller.set("sky-*-controller-*", "LOCAL_CREDENTIALS");
    Node nodes = Node::map();
    nodes.set("*", run_role_name(name));
    Node roles = Node::list();
    roles.append(std::move(controller)).append(std::move(nodes));
    Node aws = Node::map();
    aws.set("#role", "by default SkyPilot copies your own credentials to every node");
    aws.set("remote_identity", std::move(roles));
    if (r.uses_efa()) {
        aws.set("#efa", "a node with a public address gets one EFA interface alone");
        aws.set("use_internal_ips", true);
    }
    if (block) {
        Node ids = Node::list();
        ids.append(Node::string(std::string(kReservation.value)));
        aws.set("specific_reservations", std::move(ids));
    }
    Node root = Node::map();
    root.set("aws", std::move(aws));
    return head_comment("#", r, Target::skypilot) + write_yaml(root);
}

std::vector<std::string> start(const Directory& out, const Recipe& r, const std::string& name) {
    std::vector<std::string> c = storage_commands(out, r, name);
    c.push_back("pip install 'skypilot[aws]==" + version("skypilot").value + "'");
    for (const char* path :
         {"iam/iam.create-instance-profile.json", "iam/iam.add-role-to-instance-profile.json"})
        c.push_back(send_request(r, *out.find(path)));
    for (std::string& line : block_commands(out, r)) c.push_back(std::move(line));
    c.push_back("# put your program into code/, then");
    const std::string file = " --config sky-config.yaml task.yaml";
    c.push_back(r.purchase == Purchase::spot
                    ? "sky jobs launch -n " + name + file + "   # starts again after interruptions"
                    : "sky launch -c " + name + " --down" + file);
    return c;
}

}  // namespace

Result<Directory> render_skypilot(const Recipe& r, const Options& options) {
    if (auto no = refuse_plan(r, options)) return *no;
    auto name = job_name(kName, r, options);
    if (!name) return name.error();
    auto at = run_addresses(options, *name);
    if (!at) return at.error();
    const Framework framework = options.framework.value_or(default_framework(r));
    auto launch = training_command(r, framework,
                                   {.data = data_directory(r),
                                    .checkpoint = std::string(kPlace) + "/checkpoints",
                                    .config = "."});
    if (!launch) return launch.error();
    Directory out;
    out.add({"task.yaml", task(r, *name, *at, *launch, framework)});
    out.add({"sky-config.yaml", config(r, *name)});
    const std::string script = pod_script({.stages_data = r.data_place == DataPlace::local_nvme,
                                           .shares_files = false,
                                           .resumes = r.resume != workload::Resume::none,
                                           .framework = framework,
                                           .notice = launch->notice});
    out.add(
        {"code/run.sh", "#!/bin/bash\n" + head_comment("#", r, Target::skypilot) + script, true});
    for (File& f : launch->files) {
        f.path = "code/" + f.path;
        out.add(std::move(f));
    }
    add_block_purchase(out, r, *name, r.nodes);
    add_storage(out, r, *at, *name, {});
    add_iam(out, r, Target::skypilot, *at, *name);
    add_instance_profile(out, r, *name);
    std::vector<std::string> down = {
        (r.purchase == Purchase::spot ? "sky jobs cancel -n " : "sky down ") + *name};
    const std::string role = run_role_name(*name);
    down.push_back("aws iam remove-role-from-instance-profile --instance-profile-name " + role +
                   " --role-name " + role);
    down.push_back("aws iam delete-instance-profile --instance-profile-name " + role);
    const auto rest = storage_tear_down(out, r, *at, *name, Target::skypilot);
    down.insert(down.end(), rest.begin(), rest.end());
    std::vector<std::string> notes = storage_notes(r, Target::skypilot);
    if (r.uses_efa())
        notes.push_back(
            "The nodes have private addresses alone: SkyPilot must run where it reaches them, or "
            "through `aws.ssh_proxy_command`, and their subnet needs NAT.");
    notes.insert(notes.end(), launch->expects.begin(), launch->expects.end());
    add_readme(out, r,
               {.target = Target::skypilot,
                .tool = "SkyPilot " + version("skypilot").value,
                .start = start(out, r, *name),
                .tear_down = down,
                .notes = notes,
                .more_per_hour = r.purchase == Purchase::spot
                                     ? "SkyPilot's controller, a small instance that stays"
                                     : ""});
    return out;
}

}  // namespace trainyard::render
