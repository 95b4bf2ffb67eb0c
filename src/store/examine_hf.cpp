// Hugging Face Trainer: checkpoint-N with "trainer_state.json" written last by rank 0.

#include <fmt/format.h>

#include <set>

#include "examination.hpp"

namespace trainyard::store {

void examine_hf_trainer(Examination& e) {
    const auto names = e.files_in("");
    if (!names.contains("trainer_state.json")) {
        return e.against("trainer_state.json", "missing: it is written last");
    }
    const auto text = e.text_of("trainer_state.json", std::uint64_t{64} << 20U);
    const auto state = text ? parse_python_json(*text) : std::nullopt;
    const doc::Node* step = state ? state->find("global_step") : nullptr;
    if (step == nullptr || !step->is(doc::Node::Kind::integer)) {
        return e.against("trainer_state.json", "it has no global_step");
    }
    const auto named = step_of_name(e.tree().root.substr(e.tree().root.rfind('/') + 1));
    if (named && *named != step->as_integer()) {
        e.against("trainer_state.json", fmt::format("it is of step {}", step->as_integer()));
    }
    bool has_weights = false;
    bool is_sharded = false;
    for (const TreeFile& file : e.tree().files) {
        is_sharded =
            is_sharded || file.path.ends_with(".distcp") || file.path.ends_with("_model_states.pt");
        has_weights = has_weights || is_sharded || file.path.ends_with(".safetensors") ||
                      file.path.ends_with(".bin");
    }
    if (!has_weights) e.against("model.safetensors", "there are no weights");
    const bool has_optimizer = names.contains("optimizer.pt") || names.contains("optimizer.bin");
    if (has_optimizer && !names.contains("scheduler.pt")) {
        e.against("scheduler.pt", "missing, though there is an optimizer");
    }
    // Sharded optimizers lie in DCP or DeepSpeed directories.
    if (!has_optimizer && !is_sharded && names.contains("scheduler.pt")) {
        e.against("optimizer.pt", "missing, though there is a scheduler");
    }
    std::set<int> ranks;
    for (const auto& [name, file] : names) {
        if (const auto rank = number_after(name, "rng_state_")) ranks.insert(*rank);
    }
    if (ranks.empty()) return;
    // The other ranks write theirs without waiting for each other.
    const int wanted = e.options().ranks.value_or(*ranks.rbegin() + 1);
    for (int rank = 0; rank < wanted; ++rank) {
        if (!ranks.contains(rank)) {
            return e.against(fmt::format("rng_state_{}.pth", rank), "missing");
        }
    }
    if (!e.options().ranks) e.no_end_mark();
}

}  // namespace trainyard::store
