#include <array>
#include <utility>

#include "trainyard/render/target.hpp"

namespace trainyard::render {

namespace {
constexpr std::array<std::pair<Framework, std::string_view>, 4> kNames = {
    {{Framework::fsdp, "fsdp"},
     {Framework::megatron, "megatron"},
     {Framework::deepspeed, "deepspeed"},
     {Framework::nxd, "nxd"}}};
}  // namespace

std::string_view to_string(Framework f) { return kNames.at(static_cast<std::size_t>(f)).second; }

std::optional<Framework> parse_framework(std::string_view s) {
    for (const auto& [framework, name] : kNames) {
        if (name == s) return framework;
    }
    return std::nullopt;
}

Framework default_framework(const Recipe& r) {
    using workload::Zero;
    if (r.is_trainium()) return Framework::nxd;
    const workload::Parallelism& p = r.training.parallel;
    const bool one_axis =
        p.tensor == 1 && p.pipeline == 1 && p.context == 1 && p.expert == 1 && p.expert_tensor == 1;
    const bool sharded_states = p.zero == Zero::optimizer || p.zero == Zero::gradients;
    if (!one_axis) return Framework::megatron;
    return sharded_states ? Framework::deepspeed : Framework::fsdp;
}

}  // namespace trainyard::render
