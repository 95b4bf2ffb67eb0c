// DeepSpeed: a directory of the tag with *_model_states.pt and *_optim_states.pt, and "latest"
// beside it, which names the tag and is written last.

#include <fmt/format.h>

#include <set>

#include "examination.hpp"
#include "trainyard/base/text.hpp"

namespace trainyard::store {

namespace {

struct Files {
    std::map<int, std::set<int>> optimizer;  ///< by model-parallel rank: data-parallel ranks
    std::map<int, std::set<int>> zero3;      ///< model states by rank, as ZeRO-3 writes them
    std::set<int> model;                     ///< model-parallel ranks
    const TreeFile* first = nullptr;         ///< the first model states
    bool has_experts = false;
};

Files sorted(const std::map<std::string, const TreeFile*>& names) {
    Files files;
    for (const auto& [name, file] : names) {
        const auto tensor = number_after(name, "mp_rank_");
        const auto data = number_after(name, "zero_pp_rank_");
        if (name.find("_expert_") != std::string::npos || name.starts_with("expp_rank_")) {
            files.has_experts = true;
        } else if (tensor && name.ends_with("_optim_states.pt")) {
            files.optimizer[*tensor].insert(data.value_or(0));
        } else if (tensor && name.ends_with("_model_states.pt")) {
            if (data) files.zero3[*tensor].insert(*data);
            files.model.insert(*tensor);
            if (files.first == nullptr) files.first = file;
        }
    }
    return files;
}

/// Ranks 0 to `wanted` - 1; a gap is told by its first rank.
void expect_ranks(Examination& e, const std::string& where, const std::set<int>& there, int wanted,
                  std::string_view what) {
    for (int rank = 0; rank < wanted; ++rank) {
        if (!there.contains(rank)) {
            return e.against(where,
                             fmt::format("{} of rank {} of {} are missing", what, rank, wanted));
        }
    }
}

int reaches(const std::map<int, std::set<int>>& ranks) {
    int most = 0;
    for (const auto& [tensor, data] : ranks) most = std::max(most, *data.rbegin() + 1);
    return most;
}

/// What the model states say of the world that wrote them.
struct World {
    std::optional<int> data_parallel;
    std::optional<int> model_parallel;
    bool has_zero = false;
};

World world_of(Examination& e, const Files& files) {
    World world;
    if (files.first == nullptr) return world;
    const auto pickle = e.pickle_of(*files.first);
    if (!pickle) return world;
    constexpr std::int64_t kMost = 1 << 24;
    const auto size = [&](std::string_view key) -> std::optional<int> {
        const auto value = pickle->find_integer(pickle->root(), key);
        if (!value || *value < 1 || *value > kMost) return std::nullopt;
        return static_cast<int>(*value);
    };
    world.data_parallel = size("dp_world_size");
    world.model_parallel = size("mp_world_size");
    if (const auto config = pickle->find(pickle->root(), "ds_config")) {
        const auto zero = pickle->find(*config, "zero_optimization");
        world.has_zero = zero && pickle->find_integer(*zero, "stage").value_or(0) > 0;
    }
    return world;
}

void examine_latest(Examination& e, const std::string& directory) {
    const std::string root = e.tree().root + (directory.empty() ? "" : "/" + directory);
    const std::string tag = root.substr(root.rfind('/') + 1);
    const std::string path = sys::parent_of(root) + "/latest";
    const auto text = e.text_beside(path, 4096);
    if (!text) return e.against("latest", "missing: it is written last");
    const std::string_view named = trim(*text);
    if (named == tag) return;
    const auto latest = step_of_name(named);
    const auto mine = step_of_name(tag);
    if (!latest || !mine || *latest < *mine) {
        e.against("latest", fmt::format("it names \"{}\", not \"{}\"", printable(named, 80),
                                        printable(tag, 80)));
    }
}

}  // namespace

void examine_deepspeed(Examination& e, const std::string& directory) {
    const Files files = sorted(e.files_in(directory));
    const std::string where = directory.empty() ? "optimizer" : directory;
    if (files.model.empty()) return e.against(where, "it has no model states");
    const World world = world_of(e, files);
    const bool is_zero3 = !files.zero3.empty();
    const int data =
        world.data_parallel.value_or(std::max(reaches(files.optimizer), reaches(files.zero3)));
    const int model = world.model_parallel.value_or(*files.model.rbegin() + 1);
    expect_ranks(e, where, files.model, model, "model states");
    for (const auto& [tensor, ranks] : files.zero3) {
        expect_ranks(e, where, ranks, data, "model states");
    }
    const bool has_optimizer = !files.optimizer.empty();
    if ((is_zero3 || world.has_zero) && !has_optimizer) {
        e.against(where, "optimizer states are missing");
    }
    if (has_optimizer) {
        std::set<int> tensors;
        for (const auto& [tensor, ranks] : files.optimizer) {
            tensors.insert(tensor);
            if (!files.has_experts) expect_ranks(e, where, ranks, data, "optimizer states");
        }
        expect_ranks(e, where, tensors, model, "optimizer states");
    }
    examine_latest(e, directory);
    if (!world.data_parallel || !world.model_parallel) e.no_end_mark();
}

}  // namespace trainyard::store
