// Megatron-LM, both formats. torch_dist: DCP files and "metadata.json", written only when all is
// there. Legacy: mp_rank_TT[_PPP][_EEE]/model_optim_rng.pt of every rank of the grid, which
// nothing marks but latest_checkpointed_iteration.txt beside it.

#include <fmt/format.h>

#include <charconv>
#include <set>

#include "examination.hpp"
#include "trainyard/base/text.hpp"

namespace trainyard::store {

namespace {

/// Whether the tracker names this iteration or a later one, or a release.
bool is_tracked(Examination& e) {
    const auto text =
        e.text_beside(sys::parent_of(e.tree().root) + "/latest_checkpointed_iteration.txt", 4096);
    if (!text) return false;
    const std::string_view word = trim(*text);
    const std::string name = e.tree().root.substr(e.tree().root.rfind('/') + 1);
    if (word == "release") return name == "release";
    std::int64_t latest = -1;
    const auto end = std::from_chars(word.data(), word.data() + word.size(), latest);
    const auto mine = step_of_name(name);
    return end.ec == std::errc() && end.ptr == word.data() + word.size() && mine && latest >= *mine;
}

std::optional<int> argument(const Pickle& pickle, std::string_view key) {
    const auto arguments = pickle.find(pickle.root(), "args");
    if (!arguments) return std::nullopt;
    const auto value = pickle.find_integer(*arguments, key);
    constexpr std::int64_t kMost = 1 << 20;
    if (!value || *value < 1 || *value > kMost) return std::nullopt;
    return static_cast<int>(*value);
}

std::string rank_name(int tensor, int pipeline, bool has_pipeline) {
    return has_pipeline ? fmt::format("mp_rank_{:02}_{:03}", tensor, pipeline)
                        : fmt::format("mp_rank_{:02}", tensor);
}

void expect_grid(Examination& e, const Pickle& arguments, const std::set<std::string>& there) {
    const auto tensor = argument(arguments, "tensor_model_parallel_size");
    const auto pipeline = argument(arguments, "pipeline_model_parallel_size");
    if (!tensor || !pipeline) return e.no_end_mark();
    for (int t = 0; t < *tensor; ++t) {
        for (int p = 0; p < *pipeline; ++p) {
            const std::string name = rank_name(t, p, *pipeline > 1);
            // Expert parallelism adds a third number; then each pair is there at least once.
            const auto at = there.lower_bound(name);
            if (at == there.end() || !at->starts_with(name)) {
                return e.against(name, fmt::format("missing from the grid of {} x {} ranks",
                                                   *tensor, *pipeline));
            }
        }
    }
}

}  // namespace

void examine_megatron(Examination& e) {
    const auto names = e.files_in("");
    const auto mark = names.find("metadata.json");
    if (mark == names.end()) return e.against("metadata.json", "missing: it is written last");
    const auto text = e.text_of("metadata.json", std::uint64_t{1} << 20U);
    const auto tree = text ? parse_python_json(*text) : std::nullopt;
    const doc::Node* backend = tree ? tree->find("sharded_backend") : nullptr;
    if (backend == nullptr) return e.against("metadata.json", "it names no sharded_backend");
    if (backend->text() == "torch_dist" && !names.contains(".metadata")) {
        e.against(".metadata", "missing, though metadata.json says torch_dist");
    }
    if (backend->text() != "torch_dist") e.no_end_mark();
}

void examine_megatron_legacy(Examination& e) {
    std::set<std::string> ranks;
    std::set<std::string> with_optimizer;
    const TreeFile* first = nullptr;
    for (const TreeFile& file : e.tree().files) {
        const std::size_t slash = file.path.find('/');
        if (slash == std::string::npos || !file.path.starts_with("mp_rank_")) continue;
        const std::string rank = file.path.substr(0, slash);
        const std::string_view name = std::string_view(file.path).substr(slash + 1);
        if (name == "model_optim_rng.pt") {
            ranks.insert(rank);
            if (first == nullptr) first = &file;
        } else if (name == "distrib_optim.pt") {
            with_optimizer.insert(rank);
        }
    }
    for (const std::string& rank : ranks) {
        if (!with_optimizer.empty() && !with_optimizer.contains(rank)) {
            e.against(rank, "distrib_optim.pt is missing, though other ranks have one");
        }
    }
    for (const std::string& rank : with_optimizer) {
        if (!ranks.contains(rank)) e.against(rank, "model_optim_rng.pt is missing");
    }
    if (first == nullptr) return e.against("mp_rank_00", "it has no model_optim_rng.pt");
    const auto pickle = e.pickle_of(*first);
    if (pickle) {
        expect_grid(e, *pickle, ranks);
        const auto arguments = pickle->find(pickle->root(), "args");
        const auto wants =
            arguments ? pickle->find(*arguments, "use_distributed_optimizer") : std::nullopt;
        if (wants && pickle->integer(*wants) == 1 && with_optimizer.empty()) {
            e.against("mp_rank_00", "distrib_optim.pt is missing");
        }
    } else {
        e.no_end_mark();
    }
    if (!is_tracked(e)) {
        e.against("latest_checkpointed_iteration.txt",
                  "it does not name this iteration yet: it is written last");
    }
}

}  // namespace trainyard::store
