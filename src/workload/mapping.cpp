// The laws of a parallel mapping.
//
// One function finds the broken laws as bits; `is_legal_mapping` asks whether there are any,
// `check_mapping` puts them in words. So the two cannot disagree, and the search's inner loop
// builds no text.
//
// Sources: Megatron-LM arguments.py and parallel_state.py (divisibility of heads, query groups,
// FFN, layers, micro- batches, context chunks; experts over the DP x CP x TP ranks of a stage),
// https://github.com/NVIDIA/Megatron-LM; DeepSpeed pipe/engine.py (ZeRO-2/3 cannot be combined with
// its pipeline), https://github.com/deepspeedai/DeepSpeed.

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <functional>

#include "trainyard/base/contract.hpp"
#include "trainyard/workload/training.hpp"

namespace trainyard::workload {
namespace {

// Named as the table indices that they are.
// NOLINTBEGIN(readability-identifier-naming)
enum Law : std::uint32_t {
    kDegrees,
    kBatch,
    kTpHeads,
    kTpKvHeads,
    kTpFfn,
    kSpTp,
    kSpSequence,
    kPpLayers,
    kVpPipeline,
    kVpLayers,
    kVpMicroBatches,
    kCpSequence,
    kEpDense,
    kEpExperts,
    kEpRanks,
    kEtpFfn,
    kShardGroup,
    kZeroPipeline,
    kPositions,
    kLoraRank,
    kDataOnly,
    kLawCount,
};
// NOLINTEND(readability-identifier-naming)

constexpr std::array<std::string_view, kLawCount> kRules = {
    "degrees",     "batch",      "tp-heads",  "tp-kv-heads", "tp-ffn",           "sp-tp",
    "sp-sequence", "pp-layers",  "vp-pp",     "vp-layers",   "vp-micro-batches", "cp-sequence",
    "ep-dense",    "ep-experts", "ep-ranks",  "etp-ffn",     "shard-group",      "zero-pp",
    "positions",   "lora-rank",  "data-only",
};

constexpr std::uint32_t bit(Law law) { return std::uint32_t{1} << law; }
constexpr std::uint32_t when(bool broken, Law law) { return broken ? bit(law) : 0U; }

bool degrees_positive(const Training& t) {
    const Parallelism& p = t.parallel;
    return p.data >= 1 && p.tensor >= 1 && p.pipeline >= 1 && p.virtual_stages >= 1 &&
           p.context >= 1 && p.expert >= 1 && p.expert_tensor >= 1 && p.shard_group >= 0 &&
           t.micro_batch >= 1 && t.global_batch >= 1 && t.sequence >= 1;
}

std::uint32_t tensor_laws(const Model& m, const Training& t) {
    const int tp = t.parallel.tensor;
    std::uint32_t broken = 0;
    if (t.parallel.sequence_parallel) {
        broken |= when(tp == 1, kSpTp);
        broken |= when(t.sequence / t.parallel.context % tp != 0, kSpSequence);
    }
    if (tp == 1) return broken;
    if (m.heads % tp != 0) {
        broken |=
            bit(kTpHeads);  // KV heads divide heads, so they fail too: one violation is enough
    } else if (!m.mla && m.kv_heads > 0) {
        const bool copied = t.kv_replication && tp % m.kv_heads == 0;
        broken |= when(m.kv_heads % tp != 0 && !copied, kTpKvHeads);
    }
    const bool dense_ffn = m.dense_mlp_layers() > 0 && m.ffn_hidden % tp != 0;
    const bool shared_ffn = m.moe && m.moe->shared_ffn_hidden % tp != 0;
    broken |= when(dense_ffn || shared_ffn, kTpFfn);
    return broken;
}

/// With interleaving every chunk has the same number of layers, save the first and the last, which
/// also hold the embedding and the head and may have fewer (even none): Megatron's
/// account-for-embedding and account-for-loss.
bool chunks_balance(int layers, std::int64_t chunks) {
    const std::int64_t per_chunk = (layers + chunks - 1) / chunks;
    return per_chunk * chunks - layers <= 2 * per_chunk;
}

std::uint32_t pipeline_laws(const Model& m, const Training& t) {
    const Parallelism& p = t.parallel;
    if (p.virtual_stages == 1) return when(p.pipeline > m.layers, kPpLayers);
    if (p.pipeline == 1) return bit(kVpPipeline);
    const std::int64_t chunks = std::int64_t{p.pipeline} * p.virtual_stages;
    std::uint32_t broken = when(p.pipeline > m.layers, kPpLayers);
    broken |= when(!chunks_balance(m.layers, chunks), kVpLayers);
    const std::int64_t per_pass = std::int64_t{t.micro_batch} * p.data;
    broken |= when(t.global_batch / per_pass % p.pipeline != 0, kVpMicroBatches);
    return broken;
}

std::uint32_t expert_laws(const Model& m, const Training& t) {
    const Parallelism& p = t.parallel;
    if (p.expert == 1 && p.expert_tensor == 1) return 0;
    if (!m.moe) return bit(kEpDense);
    const std::int64_t stage_ranks = std::int64_t{p.data} * p.context * p.tensor;
    const std::int64_t expert_ranks = std::int64_t{p.expert} * p.expert_tensor;
    return when(m.moe->experts % p.expert != 0, kEpExperts) |
           when(stage_ranks % expert_ranks != 0, kEpRanks) |
           when(m.moe->expert_ffn_hidden % p.expert_tensor != 0, kEtpFfn);
}

/// "DeepSpeed" and "deepspeed", without allocating.
bool contains_deepspeed(std::string_view stack) {
    return stack.find("eepSpeed") != std::string_view::npos ||
           stack.find("eepspeed") != std::string_view::npos;
}

std::uint32_t data_laws(const Model& m, const Training& t) {
    const Parallelism& p = t.parallel;
    std::uint32_t broken =
        when(t.global_batch % (std::int64_t{t.micro_batch} * p.data) != 0, kBatch);
    if (p.shard_group > 0) {
        const bool splits = (std::int64_t{p.data} * p.context) % p.shard_group == 0;
        broken |= when(!splits || p.zero == Zero::none, kShardGroup);
    }
    if (p.pipeline > 1 && p.zero >= Zero::gradients)
        broken |= when(contains_deepspeed(t.stack), kZeroPipeline);
    if (p.context > 1) {
        const std::int64_t chunks = m.causal ? 2 * std::int64_t{p.context} : p.context;
        broken |= when(t.sequence % chunks != 0, kCpSequence);
    }
    if (m.learned_positions) broken |= when(t.sequence > m.max_positions, kPositions);
    if (t.lora) broken |= when(t.lora->rank < 1 || t.lora->rank > m.hidden, kLoraRank);
    return broken;
}

std::uint32_t broken_laws(const Model& m, const Training& t) {
    if (!degrees_positive(t)) return bit(kDegrees);
    if (m.opaque_params) {
        const Parallelism& p = t.parallel;
        const bool split =
            p.tensor > 1 || p.pipeline > 1 || p.context > 1 || p.expert > 1 || p.virtual_stages > 1;
        return when(split, kDataOnly) |
               when(t.global_batch % (std::int64_t{t.micro_batch} * p.data) != 0, kBatch);
    }
    return tensor_laws(m, t) | pipeline_laws(m, t) | expert_laws(m, t) | data_laws(m, t);
}

std::string number(std::int64_t n) { return std::to_string(n); }

/// "1, 2 or 4": the values up to `limit` that `good` accepts; at most the eight largest.
std::string choices(int limit, const std::function<bool(int)>& good) {
    std::vector<int> values;
    for (int v = 1; v <= limit; ++v) {
        if (good(v)) values.push_back(v);
    }
    if (values.size() > 8) values.erase(values.begin(), values.end() - 8);
    std::string text;
    for (std::size_t i = 0; i < values.size(); ++i) {
        text += i == 0 ? "" : (i + 1 == values.size() ? " or " : ", ");
        text += number(values[i]);
    }
    return text;
}

constexpr int kTpShown = 128;

std::string legal_tp(const Model& m, Training t) {
    return choices(kTpShown, [&](int tp) {
        t.parallel.tensor = tp;
        t.parallel.sequence_parallel = false;
        return tensor_laws(m, t) == 0;
    });
}

struct Words {
    std::string what;
    std::string fix;
};

Words batch_words(const Training& t) {
    const std::int64_t pass = std::int64_t{t.micro_batch} * t.parallel.data;
    const std::int64_t near = t.global_batch < pass ? pass : t.global_batch / pass * pass;
    return {"global batch " + number(t.global_batch) + " is not micro-batch " +
                number(t.micro_batch) + " x DP " + number(t.parallel.data) +
                " x a whole number of accumulation steps",
            "use a multiple of " + number(pass) + ", for example " + number(near)};
}

Words tensor_words(Law law, const Model& m, const Training& t) {
    const std::string tp = "TP " + number(t.parallel.tensor);
    switch (law) {
        case kTpHeads:
            return {tp + " does not divide " + number(m.heads) + " heads",
                    "use TP " + legal_tp(m, t)};
        case kTpKvHeads:
            return {tp + " does not divide " + number(m.kv_heads) + " KV heads",
                    "use TP " + legal_tp(m, t) +
                        (t.parallel.tensor % m.kv_heads == 0
                             ? ", or set kv_replication if the stack copies KV heads"
                             : "")};
        case kTpFfn:
            return {tp + " does not divide the FFN width " +
                        number(m.ffn_hidden % t.parallel.tensor != 0 || !m.moe
                                   ? m.ffn_hidden
                                   : m.moe->shared_ffn_hidden),
                    "use TP " + legal_tp(m, t)};
        case kSpTp:
            return {"sequence parallelism needs TP above 1",
                    "set TP to 2 or more, or sequence_parallel: false"};
        default:
            return {"each CP rank's " + number(t.sequence / t.parallel.context) +
                        " tokens do not split over " + tp + " for sequence parallelism",
                    "use a sequence that is a multiple of CP x TP = " +
                        number(std::int64_t{t.parallel.context} * t.parallel.tensor)};
    }
}

Words pipeline_words(Law law, const Model& m, const Training& t) {
    const Parallelism& p = t.parallel;
    const std::string pp = number(p.pipeline);
    switch (law) {
        case kPpLayers:
            return {"PP " + pp + " exceeds " + number(m.layers) + " layers",
                    "use PP " + number(m.layers) + " or less"};
        case kVpPipeline:
            return {"virtual stages need PP above 1", "set PP to 2 or more, or VPP to 1"};
        case kVpLayers:
            return {number(m.layers) + " layers do not fill PP " + pp + " x VPP " +
                        number(p.virtual_stages) + " = " +
                        number(std::int64_t{p.pipeline} * p.virtual_stages) + " chunks evenly",
                    "use VPP " + choices(std::min(m.layers, 64), [&](int vp) {
                        return vp == 1 || chunks_balance(m.layers, std::int64_t{p.pipeline} * vp);
                    })};
        default: {
            const std::int64_t micro = t.global_batch / (std::int64_t{t.micro_batch} * p.data);
            const std::int64_t up = (micro + p.pipeline - 1) / p.pipeline * p.pipeline;
            return {"interleaving needs a multiple of PP " + pp + " micro-batches, not " +
                        number(micro),
                    "use a global batch of " +
                        number(std::max<std::int64_t>(up, p.pipeline) * t.micro_batch * p.data) +
                        ", or VPP 1"};
        }
    }
}

Words expert_words(Law law, const Model& m, const Training& t) {
    const Parallelism& p = t.parallel;
    switch (law) {
        case kEpDense:
            return {"expert parallelism on a model without experts", "set EP and expert TP to 1"};
        case kEpExperts:
            return {"EP " + number(p.expert) + " does not divide " + number(m.moe->experts) +
                        " experts",
                    "use EP " +
                        choices(m.moe->experts, [&](int ep) { return m.moe->experts % ep == 0; })};
        case kEpRanks:
            return {"EP " + number(p.expert) + " x expert TP " + number(p.expert_tensor) +
                        " does not divide the " +
                        number(std::int64_t{p.data} * p.context * p.tensor) +
                        " ranks (DP x CP x TP) of a stage",
                    "use EP " + choices(m.moe->experts, [&](int ep) {
                        const std::int64_t ranks = std::int64_t{p.data} * p.context * p.tensor;
                        return m.moe->experts % ep == 0 &&
                               ranks % (std::int64_t{ep} * p.expert_tensor) == 0;
                    })};
        default:
            return {"expert TP " + number(p.expert_tensor) + " does not divide the expert width " +
                        number(m.moe->expert_ffn_hidden),
                    "use an expert TP that divides it, usually 1"};
    }
}

Words data_words(Law law, const Model& m, const Training& t) {
    const Parallelism& p = t.parallel;
    switch (law) {
        case kCpSequence: {
            const std::int64_t chunks = m.causal ? 2 * std::int64_t{p.context} : p.context;
            return {"CP " + number(p.context) + " splits the sequence into " + number(chunks) +
                        " chunks, and " + number(t.sequence) + " tokens do not divide by that",
                    "use a sequence that is a multiple of " + number(chunks)};
        }
        case kShardGroup:
            if (p.zero == Zero::none) {
                return {"shard_group is set, but nothing is sharded",
                        "set zero to 1, 2 or 3, or drop shard_group"};
            }
            return {"shard group " + number(p.shard_group) +
                        " does not divide DP x CP = " + number(std::int64_t{p.data} * p.context),
                    "use a divisor of it, or 0 for the whole group"};
        case kZeroPipeline:
            return {"DeepSpeed's pipeline engine works with ZeRO 0 or 1 only",
                    "use zero: 1 with PP, or PP 1"};
        case kPositions:
            return {"sequence " + number(t.sequence) + " exceeds the position table of " +
                        number(m.max_positions),
                    "use at most " + number(m.max_positions) + " tokens"};
        case kLoraRank:
            return {"LoRA rank " + number(t.lora->rank) + " is not between 1 and the hidden size " +
                        number(m.hidden),
                    "use a rank such as 8, 16 or 64"};
        default:
            return {
                "only parameter counts of this model are known, so it can only be split by data",
                "set TP, PP, CP and EP to 1"};
    }
}

Words words(Law law, const Model& m, const Training& t) {
    if (law == kDegrees) {
        return {
            "every degree, the micro-batch, the global batch and the sequence must be at least 1",
            "use 1 where a form of parallelism is off"};
    }
    if (law == kBatch) return batch_words(t);
    if (law <= kSpSequence) return tensor_words(law, m, t);
    if (law <= kVpMicroBatches) return pipeline_words(law, m, t);
    if (law >= kEpDense && law <= kEtpFfn) return expert_words(law, m, t);
    return data_words(law, m, t);
}

}  // namespace

std::vector<Violation> check_mapping(const Model& m, const Training& t) {
    std::vector<Violation> all;
    for (std::uint32_t left = broken_laws(m, t); left != 0; left &= left - 1) {
        const auto law = static_cast<Law>(std::countr_zero(left));
        TRAINYARD_ASSERT(law < kLawCount, "every bit is a law");
        Words w = words(law, m, t);
        all.push_back({std::string(kRules[law]), std::move(w.what), std::move(w.fix)});
    }
    return all;
}

bool is_legal_mapping(const Model& m, const Training& t) { return broken_laws(m, t) == 0; }

const std::vector<std::string_view>& mapping_rules() {
    static const std::vector<std::string_view> rules(kRules.begin(), kRules.end());
    return rules;
}

}  // namespace trainyard::workload
