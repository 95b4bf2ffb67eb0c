#include <algorithm>

#include "model.hpp"
#include "trainyard/base/text.hpp"

namespace trainyard::lint {

using doc::Node;

namespace {

Said flag(const Node* node) {
    Said word = said(node);
    if (!word) return word;
    if (!is_open(word.text)) word.text = is_true(node) ? "true" : "false";
    word.where = key_of(*node);
    return word;
}

/// The value, at its key: findings point at the line that sets it either way.
Said first_of(const Node* node, std::initializer_list<std::string_view> keys) {
    for (const std::string_view key : keys) {
        if (const Said word = said(get(node, key))) return word;
    }
    return {};
}

Said block(const Node* node) { return node == nullptr ? Said{} : Said{"set", key_of(*node)}; }

/// A part of the job that something else than its own class makes: what it holds is not known.
bool is_made_elsewhere(const Node* part, std::string_view its_class) {
    if (part == nullptr) return false;
    const Said made = said(part);
    return (made && made.text != "${" + std::string(its_class) + "}" &&
            !made.text.ends_with("." + std::string(its_class) + "}")) ||
           get(part, "**") != nullptr;
}

Training of_request(const Document& d, const Node& n) {
    Training t;
    t.form = Training::Form::request;
    t.document = &d;
    t.node = &n;
    t.where = n.where;
    const Node* resources = get(&n, "ResourceConfig");
    t.type = said(resources, {"InstanceType"});
    t.count = count(resources, {"InstanceCount"});
    for (const Node* group : each(get(resources, "InstanceGroups"))) {
        if (!t.type) t.type = said(group, {"InstanceType"});
        if (!t.count) t.count = count(group, {"InstanceCount"});
    }
    t.volume_gb = count(resources, {"VolumeSizeInGB"});
    t.keep_alive = count(resources, {"KeepAlivePeriodInSeconds"});
    t.training_plan = said(resources, {"TrainingPlanArn"});
    t.max_run = count(&n, {"StoppingCondition", "MaxRuntimeInSeconds"});
    t.max_wait = count(&n, {"StoppingCondition", "MaxWaitTimeInSeconds"});
    t.has_max_run = get(&n, {"StoppingCondition", "MaxRuntimeInSeconds"}) != nullptr;
    t.has_max_wait = get(&n, {"StoppingCondition", "MaxWaitTimeInSeconds"}) != nullptr;
    t.spot = flag(get(&n, "EnableManagedSpotTraining"));
    t.checkpoint_uri = said(&n, {"CheckpointConfig", "S3Uri"});
    t.checkpoint_path = said(&n, {"CheckpointConfig", "LocalPath"});
    t.role = said(&n, {"RoleArn"});
    const Node* algorithm = get(&n, "AlgorithmSpecification");
    t.image = first_of(algorithm, {"TrainingImage", "AlgorithmName"});
    t.input_mode = said(algorithm, {"TrainingInputMode"});
    t.output = said(&n, {"OutputDataConfig", "S3OutputPath"});
    t.compression = said(&n, {"OutputDataConfig", "CompressionType"});
    t.subnets = block(get(&n, {"VpcConfig", "Subnets"}));
    t.traffic_encryption = flag(get(&n, "EnableInterContainerTrafficEncryption"));
    t.channels = get(&n, "InputDataConfig");
    t.hyperparameters = env_of_map(get(&n, "HyperParameters"));
    t.env = env_of_map(get(&n, "Environment"));
    return t;
}

Training of_estimator(const Document& d, const Node& n) {
    Training t;
    t.form = Training::Form::estimator;
    t.document = &d;
    t.node = &n;
    t.where = n.where;
    t.type = said(&n, {"instance_type"});
    t.count = count(&n, {"instance_count"});
    t.volume_gb = count(&n, {"volume_size"});
    t.keep_alive = count(&n, {"keep_alive_period_in_seconds"});
    t.max_run = count(&n, {"max_run"});
    t.max_wait = count(&n, {"max_wait"});
    t.has_max_run = get(&n, "max_run") != nullptr;
    t.has_max_wait = get(&n, "max_wait") != nullptr;
    t.spot = flag(get(&n, "use_spot_instances"));
    t.checkpoint_uri = said(&n, {"checkpoint_s3_uri"});
    t.checkpoint_path = said(&n, {"checkpoint_local_path"});
    t.role = said(&n, {"role"});
    t.image = said(&n, {"image_uri"});
    t.framework_version = first_of(&n, {"framework_version", "transformers_version"});
    t.py_version = said(&n, {"py_version"});
    t.input_mode = said(&n, {"input_mode"});
    t.output = said(&n, {"output_path"});
    t.subnets = block(get(&n, "subnets"));
    t.debugger = flag(get(&n, "debugger_hook_config"));
    t.traffic_encryption = flag(get(&n, "encrypt_inter_container_traffic"));
    t.distribution = get(&n, "distribution");
    t.hyperparameters = env_of_map(get(&n, "hyperparameters"));
    t.env = env_of_map(get(&n, "environment"));
    t.is_open = get(&n, "**") != nullptr;
    return t;
}

Training of_trainer(const Document& d, const Node& n) {
    Training t;
    t.form = Training::Form::trainer;
    t.document = &d;
    t.node = &n;
    t.where = n.where;
    const Node* compute = get(&n, "compute");
    t.type = said(compute, {"instance_type"});
    t.count = count(compute, {"instance_count"});
    t.volume_gb = count(compute, {"volume_size_in_gb"});
    t.keep_alive = count(compute, {"keep_alive_period_in_seconds"});
    t.spot = flag(get(compute, "enable_managed_spot_training"));
    const Node* stopping = get(&n, "stopping_condition");
    t.max_run = count(stopping, {"max_runtime_in_seconds"});
    t.max_wait = count(stopping, {"max_wait_time_in_seconds"});
    t.has_max_run = get(stopping, "max_runtime_in_seconds") != nullptr;
    t.has_max_wait = get(stopping, "max_wait_time_in_seconds") != nullptr;
    t.checkpoint_uri = said(&n, {"checkpoint_config", "s3_uri"});
    t.checkpoint_path = said(&n, {"checkpoint_config", "local_path"});
    t.role = said(&n, {"role"});
    t.image = said(&n, {"training_image"});
    t.input_mode = said(&n, {"training_input_mode"});
    t.compression = said(&n, {"output_data_config", "compression_type"});
    t.subnets = block(get(&n, {"networking", "subnets"}));
    t.distribution = get(&n, "distributed");
    t.hyperparameters = env_of_map(get(&n, "hyperparameters"));
    t.env = env_of_map(get(&n, "environment"));
    t.is_open = get(&n, "**") != nullptr || is_made_elsewhere(compute, "Compute") ||
                is_made_elsewhere(stopping, "StoppingCondition") ||
                is_made_elsewhere(get(&n, "checkpoint_config"), "CheckpointConfig") ||
                is_made_elsewhere(get(&n, "networking"), "Networking");
    return t;
}

std::string_view last_part(std::string_view name) {
    const std::size_t dot = name.rfind('.');
    return dot == std::string_view::npos ? name : name.substr(dot + 1);
}

/// Channels of estimator.fit(…) or trainer.train(…), for the last job made.
void read_start(const Node& call, std::string_view name, Case& into) {
    if (into.trainings.empty()) return;
    Training& last = into.trainings.back();
    const Node* inputs = get(&call, "inputs");
    if (inputs == nullptr) inputs = get(&call, "input_data_config");
    if (inputs == nullptr) inputs = get(&call, "#0");
    if (last_part(name) == "fit" || last_part(name) == "train") last.channels = inputs;
}

}  // namespace

void read_sagemaker(const Document& d, Case& into) {
    if (d.kind == Kind::sagemaker_request) {
        into.trainings.push_back(of_request(d, d.root));
        return;
    }
    for (const Node* call : each(get(&d.root, "calls"))) {
        const std::string name = said(call, {"()"}).text;
        const std::string_view last = last_part(name);
        if (is_one_of(last, {"PyTorch", "HuggingFace", "TensorFlow", "Estimator", "MXNet"}) &&
            (get(call, "instance_type") != nullptr || get(call, "entry_point") != nullptr)) {
            into.trainings.push_back(of_estimator(d, *call));
        } else if (last == "ModelTrainer") {
            into.trainings.push_back(of_trainer(d, *call));
        } else if (last == "create_training_job") {
            into.trainings.push_back(of_request(d, *call));
        } else {
            read_start(*call, name, into);
        }
    }
}

}  // namespace trainyard::lint
