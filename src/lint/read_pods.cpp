#include <algorithm>

#include "model.hpp"
#include "trainyard/base/text.hpp"

namespace trainyard::lint {

using doc::Node;

namespace {

/// Words of a text that a shell would run.
void append_shell(const Said& text, std::vector<Said>& words, std::vector<EnvVar>& env) {
    const Script script = read_script(text.text, text.where);
    for (const Command& c : script.commands) {
        words.insert(words.end(), c.words.begin(), c.words.end());
    }
    env.insert(env.end(), script.env.begin(), script.env.end());
}

bool is_training_kind(std::string_view kind) {
    return is_one_of(kind, {"PyTorchJob", "MPIJob", "TFJob", "JAXJob", "XGBoostJob", "TrainJob",
                            "JobSet", "RayJob"});
}

void read_selector(const Node* spec, Job& job) {
    const Node* selector = get(spec, "nodeSelector");
    if (const Said t = said(get(selector, "node.kubernetes.io/instance-type"))) {
        job.types.push_back(t);
    }
    if (const Said z = said(get(selector, "topology.kubernetes.io/zone"))) job.zones.push_back(z);
    const Node* terms =
        get(spec, {"affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution",
                   "nodeSelectorTerms"});
    for (const Node* term : each(terms)) {
        for (const Node* e : each(get(term, "matchExpressions"))) {
            if (!said(e, {"operator"}).is("In")) continue;
            const Said key = said(e, {"key"});
            for (const Said& value : all_said(get(e, "values"))) {
                if (key.is("node.kubernetes.io/instance-type")) job.types.push_back(value);
                if (key.is("topology.kubernetes.io/zone")) job.zones.push_back(value);
            }
        }
    }
}

/// limits, else requests: Kubernetes sets extended resources by limits.
void read_resources(const Node* resources, Job& job) {
    for (const std::string_view part : {"limits", "requests"}) {
        const Node* r = get(resources, part);
        if (r == nullptr) continue;
        if (job.resources == nullptr) job.resources = r;
        if (!job.gpus) job.gpus = count(get(r, "nvidia.com/gpu"));
        if (!job.efa) job.efa = count(get(r, "vpc.amazonaws.com/efa"));
        for (const std::string_view neuron :
             {"aws.amazon.com/neuron", "aws.amazon.com/neurondevice"}) {
            if (!job.neurons) job.neurons = count(get(r, neuron));
        }
    }
}

void read_env(const Node* list, Job& job) {
    for (const Node* e : each(list)) {
        const Said name = said(e, {"name"});
        const Said value = said(e, {"value"});
        if (name) job.env.push_back({name.text, {value ? value.text : "$", name.where}});
    }
}

const Node* main_container(const Node* spec) {
    const auto all = each(get(spec, "containers"));
    for (const Node* c : all) {
        for (const std::string_view part : {"limits", "requests"}) {
            const Node* r = get(c, {"resources", part});
            if (get(r, "nvidia.com/gpu") != nullptr || get(r, "aws.amazon.com/neuron") != nullptr) {
                return c;
            }
        }
    }
    return all.empty() ? nullptr : all.front();
}

struct PodReader {
    const Document& d;
    Case& into;

    /// Variables of the ConfigMaps that envFrom names.
    void read_env_from(const Node* list, Job& job) const {
        for (const Node* from : each(list)) {
            const Said name = said(from, {"configMapRef", "name"});
            if (!name) continue;
            for (const Document* map : into.objects("ConfigMap")) {
                if (!said(&map->root, {"metadata", "name"}).is(name.text)) continue;
                const auto data = env_of_map(get(&map->root, "data"));
                job.env.insert(job.env.end(), data.begin(), data.end());
            }
        }
    }

    Job start() const {
        Job job;
        job.document = &d;
        job.object = &d.root;
        job.object_kind = d.object_kind;
        job.where = get(&d.root, "kind")->where;
        job.name = said(&d.root, {"metadata", "name"}).text;
        return job;
    }

    void add(const Node* tmpl, const std::optional<Count>& nodes) const {
        if (get(tmpl, "spec") == nullptr) return;
        Job job = start();
        job.metadata = get(tmpl, "metadata");
        job.spec = get(tmpl, "spec");
        job.nodes = nodes;
        job.container = main_container(job.spec);
        job.image = said(job.container, {"image"});
        read_resources(get(job.container, "resources"), job);
        read_selector(job.spec, job);
        read_env(get(job.container, "env"), job);
        job.words = command_words(job.container, job.env);
        append_passed_env(job.words, job.env);
        read_env_from(get(job.container, "envFrom"), job);
        job.is_training = is_training_kind(d.object_kind) || is_launcher(job.words);
        into.jobs.push_back(std::move(job));
    }

    void add_replicas(const Node* specs) const {
        if (specs == nullptr) return;
        std::int64_t total = 0;
        Location where;
        for (const auto& [role, replica] : specs->members()) {
            const auto n = count(&replica, {"replicas"});
            const Node* pod = get(&replica, {"template", "spec"});
            Job probe;
            read_resources(get(main_container(pod), "resources"), probe);
            if (role == "Launcher" && !probe.has_devices()) continue;
            total += n ? n->value : 1;
            if (n || where.line == 0) where = n ? n->where : key_of(replica);
        }
        for (const auto& [role, replica] : specs->members()) {
            add(get(&replica, "template"), Count{total, where});
        }
    }

    void add_jobs(const Node* list) const {
        for (const Node* r : each(list)) {
            const Node* spec = get(r, {"template", "spec"});
            auto nodes = count(spec, {"parallelism"});
            const auto replicas = count(r, {"replicas"});
            if (replicas && nodes)
                nodes->value *= std::clamp<std::int64_t>(replicas->value, 0, 10'000);
            if (!nodes) nodes = replicas;
            add(get(spec, "template"), nodes);
        }
    }

    void add_trainer() const {
        const Node* trainer = get(&d.root, {"spec", "trainer"});
        if (trainer == nullptr) return;
        Job job = start();
        job.container = trainer;
        job.nodes = count(trainer, {"numNodes"});
        job.image = said(trainer, {"image"});
        read_resources(get(trainer, "resourcesPerNode"), job);
        read_env(get(trainer, "env"), job);
        job.words = command_words(trainer, job.env);
        job.is_training = true;
        into.jobs.push_back(std::move(job));
    }
};

}  // namespace

std::vector<Said> command_words(const Node* container, std::vector<EnvVar>& env) {
    std::vector<Said> raw = all_said(get(container, "command"));
    for (const Said& a : all_said(get(container, "args"))) raw.push_back(a);
    std::vector<Said> words;
    for (std::size_t i = 0; i < raw.size(); ++i) {
        const bool is_text = raw[i].text.find_first_of(" \n") != std::string::npos;
        const bool after_c = i > 0 && raw[i - 1].text.starts_with('-') &&
                             raw[i - 1].text.ends_with('c') && !raw[i - 1].text.starts_with("--");
        if (is_text && (after_c || raw.size() == 1)) {
            append_shell(raw[i], words, env);
        } else {
            words.push_back(raw[i]);
        }
    }
    return words;
}

void read_pods(const Document& d, Case& into) {
    const PodReader reader{d, into};
    const Node* spec = get(&d.root, "spec");
    if (d.object_kind == "Pod") {
        reader.add(&d.root, std::nullopt);
    } else if (d.object_kind == "CronJob") {
        reader.add(get(spec, {"jobTemplate", "spec", "template"}), std::nullopt);
    } else if (d.object_kind == "TrainJob") {
        reader.add_trainer();
    } else if (is_one_of(d.object_kind, {"TrainingRuntime", "ClusterTrainingRuntime"})) {
        reader.add_jobs(get(spec, {"template", "spec", "replicatedJobs"}));
    } else if (d.object_kind == "JobSet") {
        reader.add_jobs(get(spec, "replicatedJobs"));
    } else if (d.object_kind == "LeaderWorkerSet") {
        reader.add(get(spec, {"leaderWorkerTemplate", "workerTemplate"}),
                   count(spec, {"leaderWorkerTemplate", "size"}));
    } else if (d.api.starts_with("batch.volcano.sh")) {
        for (const Node* task : each(get(spec, "tasks"))) {
            reader.add(get(task, "template"), count(task, {"replicas"}));
        }
    } else if (d.object_kind == "Job") {
        reader.add(get(spec, "template"), count(spec, {"parallelism"}));
    } else if (is_one_of(d.object_kind, {"Deployment", "StatefulSet", "DaemonSet"})) {
        reader.add(get(spec, "template"), count(spec, {"replicas"}));
    } else if (is_one_of(d.object_kind, {"RayCluster", "RayJob", "RayService"})) {
        const Node* cluster = d.object_kind == "RayCluster" ? spec : get(spec, "rayClusterSpec");
        for (const Node* group : each(get(cluster, "workerGroupSpecs"))) {
            reader.add(get(group, "template"), count(group, {"replicas"}));
        }
    } else if (spec != nullptr) {
        for (const std::string_view kind : {"pytorch", "mpi", "tf", "jax", "xgb", "paddle"}) {
            reader.add_replicas(get(spec, std::string(kind) + "ReplicaSpecs"));
        }
    }
}

}  // namespace trainyard::lint
