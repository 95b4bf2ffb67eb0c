#pragma once
// What the files of a case say, whatever tool they are for: pools of nodes, jobs that run on them,
// SageMaker jobs, security groups, resources. Rules read this first and the trees where they must.

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "document.hpp"
#include "trainyard/catalog/catalog.hpp"
#include "trainyard/nccl/diagnose.hpp"

namespace trainyard::workload {
struct Model;
}

namespace trainyard::lint {

/// A network interface of a launch template or an instance.
struct Nic {
    Location where;
    std::optional<Count> card;    ///< NetworkCardIndex
    std::optional<Count> device;  ///< DeviceIndex
    Said type;                    ///< "efa", "efa-only", "interface"
    Said public_ip;               ///< AssociatePublicIpAddress, if true
    Said subnet;
    std::vector<Said> groups;
    bool is_efa() const { return type.is("efa") || type.is("efa-only"); }
};

/// A group of like nodes that a file can start.
struct Pool {
    enum class Form {
        parallelcluster,
        karpenter,
        eksctl,
        node_group,
        launch_template,
        instance,
        fleet
    };
    Form form = Form::instance;
    const Document* document = nullptr;
    const doc::Node* node = nullptr;   ///< compute resource, NodePool, node group, resource
    const doc::Node* outer = nullptr;  ///< ParallelCluster queue; Karpenter: its EC2NodeClass
    Location where;
    std::string name;
    std::vector<Said> types;
    Said efa;  ///< said to be on
    std::optional<Count> min, max, desired;
    std::vector<Said> zones, subnets;
    Said purchase;                ///< "spot", "on-demand", "reserved", "capacity-block"
    std::vector<Said> purchases;  ///< Karpenter allows several
    Said reservation;             ///< id of a capacity reservation
    std::vector<Nic> nics;
    Said placement;  ///< the placement group: its key or name, if on
    Said public_ip;  ///< said to be given
    Said image;      ///< the EKS AMI type, if no image of its own
};

/// One pod template, sbatch script or docker command that runs a program.
struct Job {
    enum class Form { pod, sbatch, docker, image };
    Form form = Form::pod;
    const Document* document = nullptr;
    Location where;  ///< of its kind or first line
    std::string name;
    std::string object_kind;               ///< "PyTorchJob"
    const doc::Node* object = nullptr;     ///< the whole Kubernetes object
    const doc::Node* metadata = nullptr;   ///< of the pod
    const doc::Node* spec = nullptr;       ///< of the pod
    const doc::Node* container = nullptr;  ///< the one with the accelerators, else the first
    const doc::Node* resources = nullptr;  ///< limits, else requests
    std::optional<Count> nodes;            ///< pods of the job together
    std::optional<Count> gpus;             ///< nvidia.com/gpu of a pod, GPUs of a node
    std::optional<Count> neurons;
    std::optional<Count> efa;
    std::vector<Said> types;  ///< instance types its node selector allows
    std::vector<Said> zones;
    std::vector<EnvVar> env;
    std::vector<Said> words;  ///< command and arguments, shell texts taken apart
    Said image;
    bool is_training = false;  ///< a training launcher or a training kind of object
    bool is_multi_node() const { return nodes && nodes->value > 1; }
    bool has_devices() const {
        return (gpus && gpus->value > 0) || (neurons && neurons->value > 0);
    }
};

/// A SageMaker training job: a request, a v2 estimator or a v3 ModelTrainer, in one form.
struct Training {
    enum class Form { request, estimator, trainer };
    Form form = Form::request;
    const Document* document = nullptr;
    const doc::Node* node = nullptr;  ///< the request, or the call
    Location where;
    Said type;  ///< "ml.p4d.24xlarge"
    std::optional<Count> count, volume_gb, max_run, max_wait, keep_alive;
    bool has_max_run = false, has_max_wait = false;  ///< given, if only as an expression
    Said spot;  ///< EnableManagedSpotTraining; text "true", "false" or an expression
    Said checkpoint_uri, checkpoint_path, role, image, framework_version, py_version, input_mode;
    Said subnets, compression, debugger, output, traffic_encryption, training_plan;
    const doc::Node* distribution = nullptr;
    const doc::Node* channels = nullptr;
    std::vector<EnvVar> hyperparameters;
    std::vector<EnvVar> env;
    bool is_spot() const { return spot.is("true"); }
    bool is_open = false;  ///< made from **variables: absent fields may be there
};

/// A Terraform or CloudFormation resource.
struct Resource {
    const Document* document = nullptr;
    std::string type;  ///< "aws_launch_template", "AWS::EC2::LaunchTemplate"
    std::string name;
    Location where;
    const doc::Node* body = nullptr;
};

struct GroupRule {
    bool is_ingress = true;
    Location where;
    std::string protocol;  ///< "-1", "tcp"
    int from = 0, to = 65535;
    bool is_self = false;  ///< from or to the group itself
    std::vector<std::string> cidrs, groups;
};

struct SecurityGroup {
    const Document* document = nullptr;
    std::string name;   ///< how others refer to it: a label of Terraform, an id
    std::string title;  ///< its name and description, if they are written out
    Location where;
    std::vector<GroupRule> rules;
    bool is_whole = true;  ///< false: rules may come from elsewhere
};

struct Launch;
struct Planned;
class Performance;

struct Case {
    Documents documents;
    std::vector<Pool> pools;
    std::vector<Job> jobs;
    std::vector<Training> trainings;
    std::vector<Resource> resources;
    std::vector<SecurityGroup> groups;
    std::vector<nccl::Symptom> log_symptoms;  ///< of NCCL logs among the files
    const catalog::Catalog* catalog = nullptr;
    const Planned* plan = nullptr;             ///< --plan; nullptr: none was given
    const Performance* performance = nullptr;  ///< nullptr: not known here
    const workload::Model* model = nullptr;    ///< --model; nullptr: not given

    /// "p5.48xlarge" or "ml.p5.48xlarge"; nullptr if unknown.
    const catalog::Instance* instance(std::string_view type) const;
    /// The family is known, "p5en" of "p5en.48xlarge".
    bool has_family(std::string_view family) const;
    /// On-demand, us-east-1 as published.
    std::optional<UsdPerSecond> price(std::string_view type) const;
    const catalog::Accelerator* accelerator(std::string_view type) const;
    /// Pools that a job can run on: of its types; all with accelerators if it names none. Of
    /// several only those whose files are nearest to the job's: a repository holds more than one
    /// cluster.
    const std::vector<const Pool*>& pools_of(const Job& job) const;
    /// The types a job can run on, its own or its pools'.
    std::vector<Said> types_of(const Job& job) const;
    std::vector<const Document*> of_kind(Kind kind) const;
    /// Kubernetes objects of this kind.
    std::vector<const Document*> objects(std::string_view kind) const;

    std::vector<std::vector<const Pool*>> job_pools;      ///< as the jobs; made by build_case
    std::shared_ptr<const std::vector<Launch>> launches;  ///< made by build_case; launch.hpp
};

Case build_case(Documents documents);

// Readers of one kind each; they append to the case.
void read_parallelcluster(const Document& d, Case& into);
void read_karpenter(Case& into);  ///< NodePools with their EC2NodeClass: needs all documents
void read_eksctl(const Document& d, Case& into);
void read_pods(const Document& d, Case& into);
void read_sagemaker(const Document& d, Case& into);
void read_ec2(const Document& d, Case& into);
void read_terraform(const Document& d, Case& into);
void read_cloudformation(const Document& d, Case& into);
void read_scripts(const Document& d, Case& into);
void read_nccl_log(const Document& d, Case& into);  ///< after all others: they name the type

/// A pool of which nothing but its place is known.
Pool start_pool(Pool::Form form, const Document& d, const doc::Node& node, std::string name,
                const Location& where);
/// EC2's shape of launch template data, in JSON or CloudFormation.
Pool pool_of_launch_data(const Document& d, const doc::Node& data);
/// A name, or CloudFormation's {Ref: name} and {Fn::GetAtt: [name, …]}.
Said referred(const doc::Node* n);
/// An EKS node group's "ON_DEMAND" as Pool::purchase has it: "on-demand".
Said eks_purchase(Said capacity_type);
/// What a group of nodes does not say itself, its launch template may.
void inherit(Pool& group, const Pool& from);
/// Environment of a map of name to value.
std::vector<EnvVar> env_of_map(const doc::Node* map);
/// A launcher of training processes stands among the words: torchrun, deepspeed, accelerate, …
bool is_launcher(const std::vector<Said>& words);
/// NAME=VALUE that words pass on: mpirun -x NAME=VALUE, srun --export=ALL,NAME=VALUE.
void append_passed_env(const std::vector<Said>& words, std::vector<EnvVar>& env);
/// Words of a container's command; "bash -c TEXT" is taken apart. Exports in TEXT go to `env`.
std::vector<Said> command_words(const doc::Node* container, std::vector<EnvVar>& env);

}  // namespace trainyard::lint
