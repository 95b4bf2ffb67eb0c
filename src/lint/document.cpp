#include "document.hpp"

#include <algorithm>

#include "hcl.hpp"
#include "intrinsics.hpp"
#include "python_calls.hpp"
#include "trainyard/base/text.hpp"

namespace trainyard::lint {

using doc::Node;

namespace {

bool has(std::string_view text, std::string_view part) {
    return text.find(part) != std::string_view::npos;
}

/// "gpu-operator values" of a first comment "# --- gpu-operator values".
std::string title_of(std::string_view text) {
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        std::string_view line = trim(text.substr(0, end));
        if (line.starts_with('#') && !line.starts_with("#!")) {
            while (line.starts_with('#') || line.starts_with('-') || line.starts_with(' ')) {
                line.remove_prefix(1);
            }
            if (!line.empty()) return std::string(line);
        } else if (!line.empty() && !line.starts_with("---")) {
            return {};
        }
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return {};
}

struct Part {
    std::string_view text;
    int line = 1;
};

/// At lines "---": in YAML such a line at the margin is always a new document.
std::vector<Part> yaml_documents(std::string_view text) {
    std::vector<Part> parts;
    std::size_t start = 0;
    int start_line = 1;
    int line = 1;
    for (std::size_t at = 0; at < text.size(); ++line) {
        const std::size_t end = std::min(text.find('\n', at), text.size());
        const std::string_view row = text.substr(at, end - at);
        const bool divides = row.starts_with("---") &&
                             (row.size() == 3 || row[3] == ' ' || row[3] == '\r' || row[3] == '\t');
        if (divides) {
            parts.push_back({text.substr(start, at - start), start_line});
            start = std::min(end + 1, text.size());
            start_line = line + 1;
        }
        at = end + 1;
    }
    parts.push_back({text.substr(start), start_line});
    return parts;
}

/// A quick look that saves parsing of YAML that is none of ours.
bool may_interest(std::string_view text) {
    for (const std::string_view word : {"apiVersion",
                                        "HeadNode",
                                        "SlurmQueues",
                                        "Resources",
                                        "AWSTemplateFormatVersion",
                                        "olerations",
                                        "interruptionQueue",
                                        "clusterName",
                                        "driver",
                                        "migManager",
                                        "mig:",
                                        "TrainingJobName",
                                        "LaunchTemplateData",
                                        "distributed_type",
                                        "deepspeed",
                                        "zero_optimization",
                                        "check:",
                                        "resources:",
                                        "fsdp",
                                        "model_args",
                                        "InstanceType"}) {
        if (has(text, word)) return true;
    }
    return false;
}

Diagnostic needs_rendering(const SourceText& source, std::string_view text, int first_line) {
    const std::size_t at = std::min(text.find("{{"), text.find("{%"));
    const auto line =
        first_line +
        std::count(text.begin(), text.begin() + static_cast<long>(std::min(at, text.size())), '\n');
    return {Severity::note,
            {source.path, static_cast<int>(line), 0},
            "this is a template that has not been rendered: it was not checked",
            "what it says depends on values that are not here",
            "render it first (helm template, jinja2) and check the result"};
}

/// "kind: List", as kubectl prints it, is as many objects as it has items.
void add_tree(Document d, Documents& into) {
    recognise_tree(d);
    const Node* items = get(&d.root, "items");
    const bool is_list = d.kind == Kind::kubernetes && d.object_kind.ends_with("List") &&
                         items != nullptr && items->is(Node::Kind::list);
    if (!is_list) {
        into.push_back(std::move(d));
        return;
    }
    for (const Node& item : items->items()) {
        Document one{.source = d.source, .line = item.where.line, .text = d.text};
        one.root = item;
        recognise_tree(one);
        into.push_back(std::move(one));
    }
}

void read_yaml(const SourceText& source, Documents& into, std::vector<Diagnostic>& diagnostics) {
    for (const Part& part : yaml_documents(source.text)) {
        if (trim(part.text).empty()) continue;
        if (is_template(part.text)) {
            diagnostics.push_back(needs_rendering(source, part.text, part.line));
            continue;
        }
        if (!source.named && !may_interest(part.text)) continue;
        auto root = doc::parse_yaml(part.text, source.path,
                                    {.first_line = part.line, .foreign_tags = true});
        if (!root) {
            const auto& why = root.error().diagnostics;
            diagnostics.insert(diagnostics.end(), why.begin(), why.end());
            continue;
        }
        if (root->is(Node::Kind::null)) continue;
        Document d{.source = &source, .line = part.line, .text = part.text};
        d.title = title_of(part.text);
        d.root = *std::move(root);
        add_tree(std::move(d), into);
    }
}

void read_json(const SourceText& source, Documents& into, std::vector<Diagnostic>& diagnostics) {
    auto root = doc::parse_json(source.text, source.path);
    if (!root) {
        Diagnostic first = root.error().diagnostics.front();
        if (is_template(source.text)) first = needs_rendering(source, source.text, 1);
        diagnostics.push_back(std::move(first));
        return;
    }
    Document d{.source = &source, .text = source.text};
    d.root = *std::move(root);
    add_tree(std::move(d), into);
}

/// Only what may be torchtitan's: projects hold many other TOML files.
void read_toml(const SourceText& source, Documents& into, std::vector<Diagnostic>& diagnostics) {
    if (!has(source.text, "parallelism") && !has(source.text, "[training")) return;
    auto root = doc::parse_toml(source.text, source.path);
    if (!root) {
        diagnostics.push_back(root.error().diagnostics.front());
        return;
    }
    Document d{.source = &source, .text = source.text};
    d.root = *std::move(root);
    recognise_tree(d);
    into.push_back(std::move(d));
}

void read_text(const SourceText& source, Syntax syntax, Documents& into) {
    Document d{.source = &source, .text = source.text};
    d.title = title_of(source.text);
    if (syntax == Syntax::python) {
        d.root = read_python(source.text, source.path);
        d.kind = has(source.text, "sagemaker") || has(source.text, "create_training_job")
                     ? Kind::sagemaker_python
                     : Kind::python;
    } else if (syntax == Syntax::requirements) {
        d.kind = Kind::requirements;
    } else if (syntax == Syntax::log) {
        d.kind = Kind::nccl_log;
    } else {
        d.script = read_script(source.text, {source.path, 1, 1});
        d.kind = syntax == Syntax::dockerfile  ? Kind::dockerfile
                 : d.script.directives.empty() ? Kind::shell
                                               : Kind::sbatch;
    }
    into.push_back(std::move(d));
}

bool is_object(const Node& n, std::initializer_list<std::string_view> keys) {
    return std::all_of(keys.begin(), keys.end(),
                       [&](std::string_view key) { return get(&n, key) != nullptr; });
}

Kind kind_of_values(const Node& n) {
    if (is_object(n, {"settings"}) && (get(&n, {"settings", "interruptionQueue"}) != nullptr ||
                                       get(&n, {"settings", "clusterName"}) != nullptr)) {
        return Kind::helm_values;
    }
    for (const std::string_view key : {"driver", "toolkit", "mig", "migManager", "devicePlugin",
                                       "dcgmExporter", "tolerations", "supportedInstanceLabels"}) {
        if (get(&n, key) != nullptr) return Kind::helm_values;
    }
    return Kind::unknown;
}

Kind kind_of_aws(const Node& n) {
    if (is_object(n, {"TrainingJobName"}) || is_object(n, {"AlgorithmSpecification"})) {
        return Kind::sagemaker_request;
    }
    if (is_object(n, {"LaunchTemplateData"})) return Kind::launch_template;
    if (is_object(n, {"LaunchTemplateConfigs"})) return Kind::fleet;
    if (is_object(n, {"FileSystemType"}) || is_object(n, {"DataRepositoryPath"})) {
        return Kind::fsx_request;
    }
    for (const std::string_view key :
         {"LaunchTemplateVersions", "Reservations", "SecurityGroups", "Subnets", "VpcEndpoints",
          "CapacityReservations", "FileSystems", "RouteTables"}) {
        if (is_object(n, {key})) return Kind::aws_describe;
    }
    if (is_object(n, {"InstanceType", "ImageId"}) || is_object(n, {"InstanceType", "MinCount"})) {
        return Kind::run_instances;
    }
    return Kind::unknown;
}

Kind kind_of_training(const Node& n) {
    if (is_object(n, {"zero_optimization"}) || is_object(n, {"train_micro_batch_size_per_gpu"}) ||
        is_object(n, {"train_batch_size", "optimizer"})) {
        return Kind::deepspeed;
    }
    if (is_object(n, {"model_type", "hidden_size"}) || is_object(n, {"model_type", "n_embd"})) {
        return Kind::hf_config;
    }
    if (is_object(n, {"distributed_type"}) || is_object(n, {"compute_environment"})) {
        return Kind::accelerate;
    }
    const bool is_titan = get(&n, "parallelism") != nullptr ||
                          get(&n, {"model", "flavor"}) != nullptr ||
                          get(&n, {"job", "dump_folder"}) != nullptr;
    if (is_object(n, {"training"}) && is_titan) return Kind::torchtitan;
    return Kind::unknown;
}

}  // namespace

void recognise_tree(Document& d) {
    const Node& n = d.root;
    const Said api = said(&n, {"apiVersion"});
    const Said object_kind = said(&n, {"kind"});
    if (api && object_kind) {
        d.api = api.text;
        d.object_kind = object_kind.text;
        d.kind = api.text.starts_with("eksctl.io/") ? Kind::eksctl : Kind::kubernetes;
    } else if (is_object(n, {"HeadNode"}) || get(&n, {"Scheduling", "SlurmQueues"}) != nullptr ||
               get(&n, {"Scheduling", "AwsBatchQueues"}) != nullptr) {
        d.kind = Kind::parallelcluster;
    } else if (is_object(n, {"AWSTemplateFormatVersion"}) ||
               (get(&n, "Resources") != nullptr && has(d.text, "AWS::"))) {
        d.kind = Kind::cloudformation;
        d.root = with_defaults(d.root);
    } else if (is_object(n, {"planned_values"}) || is_object(n, {"resource_changes"})) {
        d.kind = Kind::terraform_plan;
    } else if (is_object(n, {"check"}) && d.source->path.ends_with("trainyard.yaml")) {
        d.kind = Kind::trainyard_config;
    } else if (const Kind aws = kind_of_aws(n); aws != Kind::unknown) {
        d.kind = aws;
    } else if (const Kind training = kind_of_training(n); training != Kind::unknown) {
        d.kind = training;
    } else {
        d.kind = kind_of_values(n);
    }
}

void read_source(const SourceText& source, Documents& into, std::vector<Diagnostic>& diagnostics) {
    const Syntax syntax = syntax_of(source.path, source.text);
    switch (syntax) {
        case Syntax::none:
            return;
        case Syntax::yaml:
            return read_yaml(source, into, diagnostics);
        case Syntax::json:
            return read_json(source, into, diagnostics);
        case Syntax::hcl: {
            auto root = read_hcl(source.text, source.path);
            if (!root) {
                diagnostics.push_back(root.error().diagnostics.front());
                return;
            }
            Document d{.source = &source, .kind = Kind::terraform, .text = source.text};
            d.root = *std::move(root);
            into.push_back(std::move(d));
            return;
        }
        case Syntax::toml:
            return read_toml(source, into, diagnostics);
        default:
            return read_text(source, syntax, into);
    }
}

}  // namespace trainyard::lint
