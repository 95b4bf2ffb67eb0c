#include "stated.hpp"

namespace trainyard::lint {

namespace {

using Framework = StatedTraining::Framework;

const Launch* launch_of(const Case& c, const Document& d) {
    const Launch* found = nullptr;
    for (const Launch& l : launches(c)) {
        if (l.document == &d) found = &l;
    }
    return found;
}

std::optional<StatedTraining> megatron(const Document& d, std::vector<Said> words) {
    StatedTraining t;
    t.framework = Framework::megatron;
    t.document = &d;
    t.tensor = option_count(d, words, {"tensor-model-parallel-size"});
    t.pipeline = option_count(d, words, {"pipeline-model-parallel-size"});
    if (!t.tensor && !t.pipeline) return std::nullopt;
    t.context = option_count(d, words, {"context-parallel-size"});
    t.expert = option_count(d, words, {"expert-model-parallel-size"});
    t.micro_batch = option_count(d, words, {"micro-batch-size"});
    t.global_batch = option_count(d, words, {"global-batch-size"});
    t.sequence = option_count(d, words, {"seq-length"});
    t.layers = option_count(d, words, {"num-layers"});
    t.hidden = option_count(d, words, {"hidden-size"});
    t.heads = option_count(d, words, {"num-attention-heads"});
    t.vocab = option_count(d, words, {"vocab-size"});
    t.words = std::move(words);
    return t;
}

StatedTraining deepspeed(const Document& d) {
    StatedTraining t;
    t.framework = Framework::deepspeed;
    t.document = &d;
    t.zero = count(&d.root, {"zero_optimization", "stage"});
    t.micro_batch = count(&d.root, {"train_micro_batch_size_per_gpu"});
    t.global_batch = count(&d.root, {"train_batch_size"});
    return t;
}

StatedTraining torchtitan(const Document& d) {
    StatedTraining t;
    t.framework = Framework::torchtitan;
    t.document = &d;
    const doc::Node* p = get(&d.root, "parallelism");
    t.tensor = count(p, {"tensor_parallel_degree"});
    t.pipeline = count(p, {"pipeline_parallel_degree"});
    t.context = count(p, {"context_parallel_degree"});
    t.expert = count(p, {"expert_parallel_degree"});
    const doc::Node* training = get(&d.root, "training");
    t.micro_batch = count(training, {"local_batch_size"});
    if (!t.micro_batch) t.micro_batch = count(training, {"batch_size"});
    t.global_batch = count(training, {"global_batch_size"});
    t.sequence = count(training, {"seq_len"});
    return t;
}

}  // namespace

std::vector<StatedTraining> stated_trainings(const Case& c) {
    std::vector<StatedTraining> all;
    for (const Document& d : c.documents) {
        std::optional<StatedTraining> t;
        if (d.kind == Kind::deepspeed) t = deepspeed(d);
        if (d.kind == Kind::torchtitan) t = torchtitan(d);
        const bool is_script = d.kind == Kind::shell || d.kind == Kind::sbatch;
        if (is_script && d.text.find("model-parallel-size") != std::string_view::npos) {
            t = megatron(d, argument_words(d));
        }
        if (!t) continue;
        t->launch = launch_of(c, d);
        all.push_back(*std::move(t));
    }
    for (const Job& job : c.jobs) {
        if (job.form != Job::Form::pod) continue;
        if (auto t = megatron(*job.document, job.words)) {
            t->launch = launch_of(c, *job.document);
            all.push_back(*std::move(t));
        }
    }
    return all;
}

}  // namespace trainyard::lint
