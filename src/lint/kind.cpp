#include "kind.hpp"

#include <cctype>

#include "said.hpp"
#include "trainyard/base/text.hpp"

namespace trainyard::lint {

namespace {

std::string_view file_name(std::string_view path) {
    const std::size_t slash = path.rfind('/');
    return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

bool has(std::string_view text, std::string_view part) {
    return text.find(part) != std::string_view::npos;
}

/// Calls `f` with each of the first lines until it returns true.
template <typename F>
bool any_line(std::string_view text, int limit, F f) {
    for (int n = 0; n < limit && !text.empty(); ++n) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        if (f(trim(text.substr(0, end)))) return true;
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return false;
}

bool is_dockerfile(std::string_view text) {
    bool is_from = false;
    any_line(text, 60, [&](std::string_view line) {
        if (line.empty() || line.starts_with('#') || line.starts_with("ARG ")) return false;
        is_from = line.starts_with("FROM ");
        return true;
    });
    return is_from;
}

bool is_terraform(std::string_view text) {
    return any_line(text, 400, [](std::string_view line) {
        for (const std::string_view word :
             {"resource \"", "module \"", "variable \"", "data \"", "provider \"", "output \"",
              "terraform {", "locals {"}) {
            if (line.starts_with(word)) return true;
        }
        return false;
    });
}

bool is_python(std::string_view path, std::string_view text) {
    if (path.ends_with(".py")) return true;
    return any_line(text, 100, [](std::string_view line) {
        return (line.starts_with("import ") || line.starts_with("from ")) && !has(line, ";") &&
               (has(line, "sagemaker") || has(line, "boto3"));
    });
}

bool is_shell(std::string_view path, std::string_view text) {
    for (const std::string_view end : {".sh", ".bash", ".sbatch", ".slurm", ".srun"}) {
        if (path.ends_with(end)) return true;
    }
    if (text.starts_with("#!")) {
        const std::string_view line = text.substr(0, text.find('\n'));
        return has(line, "sh");
    }
    return any_line(text, 100, [](std::string_view line) {
        return line.starts_with("#SBATCH") || line.starts_with("torchrun ") ||
               line.starts_with("srun ") || line.starts_with("docker run") ||
               line.starts_with("export ");
    });
}

bool is_toml(std::string_view path, std::string_view text) {
    if (path.ends_with(".toml")) return true;
    bool is_table = false;
    any_line(text, 60, [&](std::string_view line) {
        if (line.empty() || line.starts_with('#')) return false;
        is_table = line.starts_with('[') && line.ends_with(']') && !has(line, ",") &&
                   !has(line, "\"") && line.size() > 2;
        return true;
    });
    return is_table;
}

bool is_log(std::string_view text) {
    return has(text.substr(0, 256U << 10U), "NCCL INFO") ||
           has(text.substr(0, 256U << 10U), "NCCL WARN");
}

/// A line of "name: …" or "- …" or "---" outside comments.
bool is_yaml_like(std::string_view text) {
    bool yes = false;
    any_line(text, 200, [&](std::string_view line) {
        if (line.empty() || line.starts_with('#') || line.starts_with("{{")) return false;
        yes = line.starts_with("---") || line.starts_with("- ") || line.starts_with("%YAML") ||
              has(line, ": ") || line.ends_with(':');
        return true;
    });
    return yes;
}

}  // namespace

std::string_view name_of(Kind kind) {
    switch (kind) {
        case Kind::unknown:
            return "unknown";
        case Kind::parallelcluster:
            return "ParallelCluster configuration";
        case Kind::kubernetes:
            return "Kubernetes object";
        case Kind::eksctl:
            return "eksctl configuration";
        case Kind::helm_values:
            return "Helm values";
        case Kind::cloudformation:
            return "CloudFormation template";
        case Kind::sagemaker_request:
            return "SageMaker training job";
        case Kind::launch_template:
            return "EC2 launch template";
        case Kind::fleet:
            return "EC2 fleet request";
        case Kind::run_instances:
            return "EC2 RunInstances request";
        case Kind::fsx_request:
            return "FSx request";
        case Kind::aws_describe:
            return "AWS description";
        case Kind::terraform:
            return "Terraform configuration";
        case Kind::terraform_plan:
            return "Terraform plan";
        case Kind::deepspeed:
            return "DeepSpeed configuration";
        case Kind::accelerate:
            return "Accelerate configuration";
        case Kind::hf_config:
            return "Hugging Face model configuration";
        case Kind::torchtitan:
            return "torchtitan configuration";
        case Kind::trainyard_config:
            return "trainyard.yaml";
        case Kind::sagemaker_python:
            return "SageMaker Python";
        case Kind::python:
            return "Python";
        case Kind::shell:
            return "shell script";
        case Kind::sbatch:
            return "sbatch script";
        case Kind::dockerfile:
            return "Dockerfile";
        case Kind::requirements:
            return "Python requirements";
        case Kind::nccl_log:
            return "NCCL log";
    }
    return "unknown";
}

Syntax syntax_of(std::string_view path, std::string_view text) {
    const std::string_view name = file_name(path);
    const std::string_view start = trim(text.substr(0, 4096));
    if (start.empty()) return Syntax::none;
    if (path.ends_with(".log") || path.ends_with(".out")) {
        return is_log(text) ? Syntax::log : Syntax::none;
    }
    const bool is_named_yaml = path.ends_with(".yaml") || path.ends_with(".yml");
    if (start.starts_with('{') && !start.starts_with("{{") && !is_named_yaml) return Syntax::json;
    if (path.ends_with(".json")) return Syntax::json;
    if (name.starts_with("requirements") && name.ends_with(".txt")) return Syntax::requirements;
    if (name.starts_with("Dockerfile") || name.ends_with(".Dockerfile") || is_dockerfile(text)) {
        return Syntax::dockerfile;
    }
    if (path.ends_with(".tf") || path.ends_with(".tofu") || is_terraform(text)) return Syntax::hcl;
    if (is_named_yaml) return Syntax::yaml;
    if (is_python(path, text)) return Syntax::python;
    if (is_toml(path, text)) return Syntax::toml;
    if (is_shell(path, text)) return Syntax::shell;
    if (is_log(text)) return Syntax::log;
    if (start.starts_with('[')) return Syntax::json;
    const bool has_no_ending = !has(name, ".") || name.starts_with('.');
    const bool may_be_yaml = has_no_ending || path.ends_with(".txt") || path.ends_with(".tpl");
    return may_be_yaml && is_yaml_like(text) ? Syntax::yaml : Syntax::none;
}

bool is_template(std::string_view text) {
    // GitHub's ${{ }} is no template of ours; Helm and Jinja start a line or a value with {{ or {%.
    for (std::size_t at = text.find("{{"); at != std::string_view::npos;
         at = text.find("{{", at + 2)) {
        if (at == 0 || text[at - 1] != '$') return true;
    }
    return has(text, "{%");
}

}  // namespace trainyard::lint
