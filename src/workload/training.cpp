// Names of methods, optimizers and sharding modes, as users and papers write them.

#include "trainyard/workload/training.hpp"

#include <array>
#include <string>
#include <utility>

#include "trainyard/base/text.hpp"

namespace trainyard::workload {
namespace {

template <typename E>
using Name = std::pair<std::string_view, E>;

/// The first entry of each value is the one we print.
constexpr std::array kMethods = std::to_array<Name<Method>>({
    {"pretrain", Method::pretrain},
    {"full", Method::full_finetune},
    {"lora", Method::lora},
    {"qlora", Method::qlora},
    {"train", Method::pretrain},
    {"pretraining", Method::pretrain},
    {"continued-pretrain", Method::pretrain},
    {"continued-pretraining", Method::pretrain},
    {"full-finetune", Method::full_finetune},
    {"finetune", Method::full_finetune},
    {"fine-tune", Method::full_finetune},
    {"sft", Method::full_finetune},
});

constexpr std::array kOptimizers = std::to_array<Name<Optimizer>>({
    {"adamw", Optimizer::adamw_fp32},
    {"adamw-bf16", Optimizer::adamw_bf16},
    {"adamw-8bit", Optimizer::adamw_8bit},
    {"adafactor", Optimizer::adafactor},
    {"sgd", Optimizer::sgd},
    {"muon", Optimizer::muon},
    {"adam", Optimizer::adamw_fp32},
    {"adamw-fp32", Optimizer::adamw_fp32},
    {"adam-8bit", Optimizer::adamw_8bit},
});

constexpr std::array kRecomputes = std::to_array<Name<Recompute>>({
    {"none", Recompute::none},
    {"selective", Recompute::selective},
    {"full", Recompute::full},
    {"off", Recompute::none},
});

constexpr std::array kZeros = std::to_array<Name<Zero>>({
    {"none", Zero::none},
    {"zero-1", Zero::optimizer},
    {"zero-2", Zero::gradients},
    {"zero-3", Zero::weights},
    {"0", Zero::none},
    {"1", Zero::optimizer},
    {"2", Zero::gradients},
    {"3", Zero::weights},
    {"zero-0", Zero::none},
    {"zero0", Zero::none},
    {"zero1", Zero::optimizer},
    {"zero2", Zero::gradients},
    {"zero3", Zero::weights},
    {"ddp", Zero::none},
    {"distributed-optimizer", Zero::optimizer},
    {"fsdp", Zero::weights},
    {"fsdp2", Zero::weights},
    {"full-shard", Zero::weights},
    {"shard-grad-op", Zero::gradients},
});

template <typename E, std::size_t N>
std::optional<E> parse(const std::array<Name<E>, N>& names, std::string_view s) {
    std::string word = to_lower(trim(s));
    for (char& c : word) {
        if (c == '_' || c == ' ') c = '-';
    }
    for (const auto& [name, value] : names) {
        if (word == name) return value;
    }
    return std::nullopt;
}

template <typename E, std::size_t N>
std::string_view print(const std::array<Name<E>, N>& names, E wanted) {
    for (const auto& [name, value] : names) {
        if (value == wanted) return name;
    }
    return "?";
}

}  // namespace

std::string_view to_string(Method m) { return print(kMethods, m); }
std::string_view to_string(Optimizer o) { return print(kOptimizers, o); }
std::string_view to_string(Recompute r) { return print(kRecomputes, r); }
std::string_view to_string(Zero z) { return print(kZeros, z); }
std::string_view to_string(AttentionKernel a) {
    return a == AttentionKernel::flash ? "flash" : "unfused";
}

std::optional<Method> parse_method(std::string_view s) { return parse(kMethods, s); }
std::optional<Optimizer> parse_optimizer(std::string_view s) { return parse(kOptimizers, s); }
std::optional<Recompute> parse_recompute(std::string_view s) { return parse(kRecomputes, s); }
std::optional<Zero> parse_zero(std::string_view s) { return parse(kZeros, s); }

}  // namespace trainyard::workload
