#include "megatron.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "found.hpp"
#include "trainyard/workload/training.hpp"

namespace trainyard::lint {

namespace {

constexpr std::int64_t kLargest = 1'000'000;

class MegatronReader {
  public:
    MegatronReader(const Document& d, const Launch* launch, std::vector<MegatronFault>& into)
        : d_(d), launch_(launch), words_(argument_words(d)), into_(into) {}

    void judge() {
        tp_ = value({"tensor-model-parallel-size"});
        pp_ = value({"pipeline-model-parallel-size"});
        if (!tp_ && !pp_) return;
        cp_ = value({"context-parallel-size"});
        layers_ = value({"num-layers"});
        judge_world();
        judge_even_stages();
        const workload::Model m = model();
        const workload::Training t = training(m);
        for (const workload::Violation& v : workload::check_mapping(m, t)) {
            if (v.rule != "degrees") into_.push_back({v.rule, blame(v.rule), v.what, v.fix});
        }
    }

  private:
    std::optional<Count> value(std::initializer_list<std::string_view> names) const {
        auto found = option_count(d_, words_, names);
        if (!found || found->value < 1 || found->value > kLargest) return std::nullopt;
        return found;
    }
    static int number(const std::optional<Count>& c, int otherwise) {
        return c ? static_cast<int>(c->value) : otherwise;
    }
    Said place(const std::optional<Count>& c) const {
        return c ? Said{std::to_string(c->value), c->where} : Said{"", d_.head()};
    }

    Said blame(std::string_view law) const {
        static constexpr std::pair<std::string_view, std::string_view> kOptions[] = {
            {"batch", "global-batch-size"},
            {"sp-", "sequence-parallel"},
            {"tp-", "tensor-model-parallel-size"},
            {"pp-", "pipeline-model-parallel-size"},
            {"vp-", "num-layers-per-virtual-pipeline-stage"},
            {"cp-", "context-parallel-size"},
            {"ep-", "expert-model-parallel-size"},
            {"etp-", "expert-tensor-parallel-size"}};
        for (const auto& [start, name] : kOptions) {
            if (!law.starts_with(start)) continue;
            if (const Said found = option(words_, name)) {
                return {"--" + std::string(name), found.where};
            }
        }
        return place(tp_ ? tp_ : pp_);
    }

    std::optional<std::int64_t> world() const {
        if (launch_ == nullptr || !launch_->processes) return std::nullopt;
        const auto nodes = launch_->nodes ? launch_->nodes : launch_->allocated;
        if (!nodes || nodes->value < 1 || nodes->value > kLargest) return std::nullopt;
        if (launch_->processes->value < 1 || launch_->processes->value > kLargest) return {};
        return nodes->value * launch_->processes->value;
    }

    std::int64_t model_ranks() const {
        return std::int64_t{number(tp_, 1)} * number(pp_, 1) * number(cp_, 1);
    }

    void judge_world() {
        const auto all = world();
        if (all && *all % model_ranks() != 0) {
            into_.push_back(
                {"world", place(tp_ ? tp_ : pp_),
                 fmt::format("TP {} x PP {} x CP {} = {} ranks do not divide {} processes",
                             number(tp_, 1), number(pp_, 1), number(cp_, 1), model_ranks(), *all),
                 "degrees whose product divides nodes x processes per node"});
        }
        const bool has_node = launch_ != nullptr && launch_->processes;
        if (tp_ && has_node && tp_->value > launch_->processes->value && launch_->is_multi_node()) {
            into_.push_back(
                {"tp-node", place(tp_),
                 fmt::format("TP {} spans nodes of {} GPUs", tp_->value, launch_->processes->value),
                 fmt::format("TP {} or less, and PP or sharding for the rest",
                             launch_->processes->value)});
        }
    }

    void judge_even_stages() {
        if (!pp_ || !layers_ || pp_->value > layers_->value) return;
        for (const std::string_view name :
             {"decoder-first-pipeline-num-layers", "decoder-last-pipeline-num-layers",
              "account-for-embedding-in-pipeline-split", "account-for-loss-in-pipeline-split",
              "pipeline-model-parallel-layout", "deepspeed", "no-pipeline-parallel"}) {
            if (has_option(words_, name)) return;
        }
        if (layers_->value % pp_->value == 0) return;
        into_.push_back({"pp-even", place(pp_),
                         fmt::format("PP {} does not divide {} layers", pp_->value, layers_->value),
                         "a PP that divides the layers, or --decoder-first-pipeline-num-layers and "
                         "--decoder-last-pipeline-num-layers"});
    }

    workload::Model model() const {
        workload::Model m;
        const int tp = number(tp_, 1);
        m.layers = number(layers_, number(pp_, 1) * virtual_stages());
        m.heads = number(value({"num-attention-heads"}), tp);
        const auto groups = value({"num-query-groups"});
        m.kv_heads =
            groups && has_option(words_, "group-query-attention") ? number(groups, 1) : m.heads;
        m.hidden = number(value({"hidden-size"}), m.heads * 128);
        m.head_dim = std::max(1, m.hidden / m.heads);
        m.ffn_hidden = number(value({"ffn-hidden-size"}), tp);
        m.vocab = tp;
        if (const auto experts = value({"num-experts"})) {
            workload::MixtureOfExperts moe;
            moe.experts = number(experts, 1);
            moe.experts_per_token = 1;
            moe.expert_ffn_hidden =
                number(value({"moe-ffn-hidden-size", "ffn-hidden-size"}), tp * 4'096);
            m.moe = moe;
        }
        return m;
    }

    int virtual_stages() const {
        const auto per_stage = value({"num-layers-per-virtual-pipeline-stage"});
        if (!per_stage || !layers_ || !pp_) return 1;
        const std::int64_t chunks = layers_->value / per_stage->value;
        return static_cast<int>(std::max<std::int64_t>(1, chunks / pp_->value));
    }

    workload::Training training(const workload::Model& m) const {
        workload::Training t;
        workload::Parallelism& p = t.parallel;
        p.tensor = number(tp_, 1);
        p.pipeline = number(pp_, 1);
        p.context = number(cp_, 1);
        p.virtual_stages = virtual_stages();
        p.expert = number(value({"expert-model-parallel-size"}), 1);
        p.sequence_parallel = has_option(words_, "sequence-parallel");
        if (p.sequence_parallel) {
            const Said flag = option(words_, "sequence-parallel");
            p.sequence_parallel = !is_open(flag.text) && !is_one_of(flag.text, {"False", "false"});
        }
        const auto all = world();
        const bool divides = all && *all % model_ranks() == 0;
        p.data = divides ? static_cast<int>(*all / model_ranks()) : p.expert;
        t.micro_batch = number(value({"micro-batch-size"}), 1);
        const std::int64_t pass = std::int64_t{t.micro_batch} * p.data;
        const auto batch = value({"global-batch-size"});
        // Ramp-up has a law of its own; without the number of ranks the batch cannot be judged.
        const bool is_judged = batch && divides && !has_option(words_, "rampup-batch-size");
        t.global_batch =
            is_judged ? number(batch, 1)
                      : static_cast<int>(std::min<std::int64_t>(pass * p.pipeline, 1'000'000'000));
        const auto sequence = value({"seq-length"});
        t.sequence = sequence ? number(sequence, 1)
                              : static_cast<int>(std::min<std::int64_t>(
                                    std::int64_t{p.tensor} * p.context * 2 * 64, 1'000'000'000));
        t.stack = "megatron-lm";
        static_cast<void>(m);
        return t;
    }

    const Document& d_;
    const Launch* launch_;
    std::vector<Said> words_;
    std::vector<MegatronFault>& into_;
    std::optional<Count> tp_, pp_, cp_, layers_;
};

}  // namespace

std::vector<MegatronFault> megatron_faults(const Case& c) {
    std::vector<MegatronFault> faults;
    const std::vector<Launch>& all = launches(c);
    for (const Document& d : c.documents) {
        if (d.kind != Kind::shell && d.kind != Kind::sbatch) continue;
        if (d.text.find("model-parallel-size") == std::string_view::npos) continue;
        const Launch* launch = nullptr;
        for (const Launch& l : all) {
            if (l.document == &d && l.processes) launch = &l;
        }
        MegatronReader(d, launch, faults).judge();
    }
    return faults;
}

void report_megatron(const Case& c, Found& found, std::initializer_list<std::string_view> laws) {
    for (const MegatronFault& fault : megatron_faults(c)) {
        if (std::find(laws.begin(), laws.end(), fault.law) == laws.end()) continue;
        found.at(fault.at, fault.what).fix = fault.fix;
    }
}

}  // namespace trainyard::lint
