#pragma once
// The kinds of text that rules know, told by content. The file's name decides only between
// contents that look alike.

#include <string>
#include <string_view>

namespace trainyard::lint {

enum class Kind {
    unknown,
    // trees (YAML, JSON, HCL, TOML)
    parallelcluster,
    kubernetes,  ///< any object with apiVersion and kind; Document::object_kind says which
    eksctl,
    helm_values,  ///< Document::title may name the chart
    cloudformation,
    sagemaker_request,  ///< CreateTrainingJob, or what describe-training-job printed
    launch_template,    ///< EC2 CreateLaunchTemplate
    fleet,              ///< EC2 CreateFleet
    run_instances,
    fsx_request,   ///< FSx CreateFileSystem, CreateDataRepositoryAssociation
    aws_describe,  ///< `aws … describe-*`
    terraform,
    terraform_plan,  ///< `terraform show -json`
    deepspeed,
    accelerate,
    torchtitan,
    hf_config,         ///< config.json of a Hugging Face model
    trainyard_config,  ///< our own trainyard.yaml
    // scripts and text
    sagemaker_python,
    python,
    shell,  ///< torchrun lines, bootstrap scripts
    sbatch,
    dockerfile,
    requirements,
    nccl_log,
};

/// "ParallelCluster configuration".
std::string_view name_of(Kind kind);

/// How the text is to be read.
enum class Syntax { none, yaml, json, hcl, toml, python, shell, dockerfile, requirements, log };

/// By content, then by the end of the name. none: nothing that a rule could read.
Syntax syntax_of(std::string_view path, std::string_view text);

/// Helm and Jinja markers: the text must be rendered before it means anything.
bool is_template(std::string_view text);

}  // namespace trainyard::lint
