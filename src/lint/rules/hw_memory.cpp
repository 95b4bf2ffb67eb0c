// A model and mapping that do not fit in the accelerators' memory, by our own model.

#include <fmt/format.h>

#include <algorithm>

#include "facts.hpp"
#include "found.hpp"
#include "planned.hpp"
#include "stated.hpp"
#include "trainyard/base/text.hpp"
#include "trainyard/lint/performance.hpp"
#include "trainyard/workload/training.hpp"

namespace trainyard::lint::hw_memory {

namespace {

constexpr std::int64_t kMost = 1'000'000;
/// What is not stated is taken as it needs least.
constexpr int kShortest = 512;         ///< tokens
constexpr int kSmallestVocab = 8'192;  ///< entries

int number(const std::optional<Count>& c, int otherwise) {
    return c && c->value >= 1 && c->value <= kMost ? static_cast<int>(c->value) : otherwise;
}

std::optional<workload::Model> by_name(std::string_view name) {
    const std::size_t slash = name.rfind('/');
    auto found = workload::find_model(name.substr(slash == std::string_view::npos ? 0 : slash + 1));
    return found ? std::optional(*std::move(found)) : std::nullopt;
}

/// The only config.json of the case.
std::optional<workload::Model> of_config(const Case& c) {
    const auto configs = c.of_kind(Kind::hf_config);
    if (configs.size() != 1) return std::nullopt;
    auto found = workload::import_hf_config(configs.front()->root);
    if (!found) return std::nullopt;
    if (found->name.empty()) found->name = "the model of " + configs.front()->source->path;
    return *std::move(found);
}

/// A shape that Megatron-LM's arguments give in full.
std::optional<workload::Model> of_megatron(const StatedTraining& t) {
    if (!t.layers || !t.hidden || !t.heads) return std::nullopt;
    if (has_option(t.words, "num-experts")) return std::nullopt;
    workload::Model m;
    m.layers = number(t.layers, 1);
    m.hidden = number(t.hidden, 1);
    m.heads = number(t.heads, 1);
    m.head_dim = std::max(1, m.hidden / m.heads);
    const auto option_of = [&](std::string_view name) {
        return option_count(*t.document, t.words, {name});
    };
    m.kv_heads = has_option(t.words, "group-query-attention")
                     ? number(option_of("num-query-groups"), m.heads)
                     : m.heads;
    m.gated_mlp = has_option(t.words, "swiglu");
    m.ffn_hidden =
        number(option_of("ffn-hidden-size"), m.gated_mlp ? m.hidden * 8 / 3 : m.hidden * 4);
    m.vocab = number(t.vocab, kSmallestVocab);
    m.tied_embeddings = !has_option(t.words, "untie-embeddings-and-output-weights");
    m.max_positions = number(t.sequence, kShortest);
    m.name = fmt::format("{:.1f}B parameters", workload::estimate_parameters(m) / 1e9);
    return m;
}

std::optional<workload::Model> model_of(const Case& c, const std::vector<Said>& words) {
    if (c.model != nullptr) return *c.model;
    for (const std::string_view name : {"model-name-or-path", "model-name", "model-id"}) {
        const Said said = option(words, name);
        if (!said || said.text.empty()) continue;
        if (auto m = by_name(said.text)) return m;
    }
    if (auto m = of_config(c)) return m;
    return c.plan == nullptr ? std::nullopt : by_name(said(&c.plan->root, {"model", "name"}).text);
}

bool is_small(const std::vector<Said>& words) {
    return std::any_of(words.begin(), words.end(), [](const Said& w) {
        for (const std::string_view part :
             {"lora", "peft", "8bit", "4bit", "adafactor", "galore", "offload", "fp8", "quant"}) {
            if (contains(w.text, part)) return true;
        }
        return false;
    });
}

std::optional<workload::Training> of_megatron_line(const StatedTraining& t, std::int64_t world) {
    workload::Training w;
    w.stack = "megatron-lm";
    w.parallel.tensor = number(t.tensor, 1);
    w.parallel.pipeline = number(t.pipeline, 1);
    w.parallel.context = number(t.context, 1);
    w.parallel.sequence_parallel = has_option(t.words, "sequence-parallel");
    const std::int64_t ranks =
        std::int64_t{w.parallel.tensor} * w.parallel.pipeline * w.parallel.context;
    if (ranks > world || world % ranks != 0 || is_small(t.words)) return std::nullopt;
    for (const std::string_view name :
         {"use-torch-fsdp2", "use-megatron-fsdp", "use-custom-fsdp"}) {
        if (has_option(t.words, name)) w.parallel.zero = workload::Zero::weights;
    }
    if (has_option(t.words, "use-distributed-optimizer")) {
        w.parallel.zero = std::max(w.parallel.zero, workload::Zero::optimizer);
    }
    w.parallel.data = static_cast<int>(world / ranks);
    if (!has_option(t.words, "bf16") && !has_option(t.words, "fp16")) {
        w.precision = catalog::Precision::fp32;
    }
    const bool is_full = option(t.words, "recompute-granularity").is("full");
    const bool is_some = has_option(t.words, "recompute-granularity") ||
                         has_option(t.words, "recompute-activations");
    w.recompute = is_full   ? workload::Recompute::full
                  : is_some ? workload::Recompute::selective
                            : workload::Recompute::none;
    w.micro_batch = number(t.micro_batch, 1);
    w.sequence = number(t.sequence, kShortest);
    w.global_batch = w.micro_batch * w.parallel.data * w.parallel.pipeline;
    const int batch = number(t.global_batch, w.global_batch);
    if (batch % (w.micro_batch * w.parallel.data) == 0) w.global_batch = batch;
    return w;
}

std::optional<workload::Training> of_deepspeed(const StatedTraining& t,
                                               const std::vector<Said>& words, const Document& d,
                                               std::int64_t world) {
    const doc::Node* zero = get(&t.document->root, "zero_optimization");
    const bool offloads =
        get(zero, "offload_optimizer") != nullptr || get(zero, "offload_param") != nullptr;
    const Said optimizer = said(&t.document->root, {"optimizer", "type"});
    const bool is_adam = !optimizer || contains(optimizer.text, "adam");
    if (offloads || !is_adam || is_small(words)) return std::nullopt;
    workload::Training w;
    const auto stage = t.zero ? std::clamp<std::int64_t>(t.zero->value, 0, 3) : 0;
    w.parallel.zero = static_cast<workload::Zero>(stage);
    w.parallel.data = static_cast<int>(world);
    const bool is_half = is_true(get(&t.document->root, {"bf16", "enabled"})) ||
                         is_true(get(&t.document->root, {"fp16", "enabled"})) ||
                         said(&t.document->root, {"bf16", "enabled"}).is("auto") ||
                         said(&t.document->root, {"fp16", "enabled"}).is("auto");
    if (!is_half) w.precision = catalog::Precision::fp32;
    w.recompute = workload::Recompute::full;
    w.micro_batch = number(t.micro_batch, 1);
    const auto sequence = option_count(
        d, words,
        {"max-seq-length", "max-seq-len", "seq-length", "model-max-length", "block-size"});
    w.sequence = number(sequence, kShortest);
    w.global_batch = w.micro_batch * w.parallel.data;
    return w;
}

struct Subject {
    const Launch* launch = nullptr;
    Said at;
    std::string mapping;
};

void judge(const Case& c, const workload::Model& m, const workload::Training& t, const Subject& s,
           Found& found) {
    const catalog::Instance* i = instance_of(c, *s.launch);
    if (i == nullptr || i->accelerators <= 0) return;
    if (s.launch->processes->value != i->accelerators) return;
    const std::int64_t nodes = s.launch->node_count();
    const auto memory = c.performance->memory(*c.catalog, m, t, *i, static_cast<int>(nodes));
    if (!memory || memory->needed <= memory->capacity) return;
    Finding& f =
        found.at(s.at, fmt::format("{} with {} needs at least {} on each {}, which has {} for it",
                                   m.name, s.mapping, format_bytes(memory->needed), i->accelerator,
                                   format_bytes(memory->capacity)));
    f.why = fmt::format("training ends with \"out of memory\" in its first step; most goes to {}",
                        memory->largest);
    f.waste = price_of(c, i->type, nodes);
}

/// The launch that names this DeepSpeed configuration; nullptr if there is none or more than one.
const Launch* launch_of(const Case& c, const Document& config) {
    const std::string& path = config.source->path;
    const std::string_view name = std::string_view(path).substr(path.rfind('/') + 1);
    const Launch* found = nullptr;
    for (const Launch& l : launches(c)) {
        const bool names = std::any_of(l.words.begin(), l.words.end(),
                                       [&](const Said& w) { return w.text.ends_with(name); });
        if (!names) continue;
        if (found != nullptr) return nullptr;
        found = &l;
    }
    return found;
}

void find(const Case& c, Found& found) {
    if (c.performance == nullptr) return;
    for (const StatedTraining& t : stated_trainings(c)) {
        const bool is_deepspeed = t.framework == StatedTraining::Framework::deepspeed;
        const Launch* launch = is_deepspeed ? launch_of(c, *t.document) : t.launch;
        const std::int64_t world = launch == nullptr ? 0 : launch->world_size(4'096);
        if (world == 0) continue;
        if (is_deepspeed) {
            const auto model = model_of(c, launch->words);
            const auto w = of_deepspeed(t, launch->words, *launch->document, world);
            if (!model || !w) continue;
            const Said at = t.zero ? Said{std::to_string(t.zero->value), t.zero->where}
                                   : Said{"", t.document->head()};
            judge(c, *model, *w,
                  {launch, at,
                   fmt::format("ZeRO stage {} over {} devices", t.zero ? t.zero->value : 0, world)},
                  found);
        } else if (t.framework == StatedTraining::Framework::megatron) {
            auto model = of_megatron(t);
            if (!model) model = model_of(c, t.words);
            const auto w = of_megatron_line(t, world);
            if (!model || !w) continue;
            const Count& at = t.tensor ? *t.tensor : *t.pipeline;
            judge(c, *model, *w,
                  {launch, Said{std::to_string(at.value), at.where},
                   fmt::format("TP {}, PP {}, {}", w->parallel.tensor, w->parallel.pipeline,
                               w->parallel.zero == workload::Zero::none
                                   ? "no ZeRO"
                                   : workload::to_string(w->parallel.zero))},
                  found);
        }
    }
}

}  // namespace

Rule rule() {
    return {.id = "HW-MEMORY",
            .severity = Severity::error,
            .title = "The model does not fit in the accelerators' memory with this mapping",
            .applies =
                "Megatron-LM arguments; DeepSpeed configurations with a launch line; the model "
                "from the arguments, a config.json, --model or --plan",
            .why =
                "training ends with \"out of memory\" in its first step, after the nodes were "
                "started",
            .fix =
                "more sharding (TP, PP, a higher ZeRO stage), recomputation, or a larger "
                "accelerator; trainyard plan finds a mapping that fits",
            .source = "docs/model/memory.md; what is not stated is taken as it needs least",
            .find = find};
}

}  // namespace trainyard::lint::hw_memory
