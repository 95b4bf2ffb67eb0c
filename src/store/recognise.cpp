#include "trainyard/store/recognise.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <set>

#include "examination.hpp"

namespace trainyard::store {

namespace {

struct LayoutName {
    Layout layout;
    std::string_view name;
};
constexpr std::array<LayoutName, 9> kLayouts = {{{Layout::dcp, "dcp"},
                                                 {Layout::megatron, "megatron"},
                                                 {Layout::megatron_legacy, "megatron-legacy"},
                                                 {Layout::deepspeed, "deepspeed"},
                                                 {Layout::hf_trainer, "hf-trainer"},
                                                 {Layout::accelerate, "accelerate"},
                                                 {Layout::safetensors, "safetensors"},
                                                 {Layout::torch_files, "torch"},
                                                 {Layout::plain, "plain"}}};

/// What the names in the tree say, per directory and as a whole.
struct Signs {
    std::set<std::string> dcp;        ///< directories with DCP files
    std::set<std::string> deepspeed;  ///< directories with DeepSpeed states
    bool megatron = false;
    bool megatron_legacy = false;
    bool hf_trainer = false;
    bool accelerate = false;
    bool safetensors = false;
    bool torch = false;
};

Signs signs_of(const Tree& tree) {
    Signs signs;
    const std::string root = tree.root.substr(tree.root.rfind('/') + 1);
    for (const TreeFile& file : tree.files) {
        const std::size_t slash = file.path.rfind('/');
        const std::string directory = slash == std::string::npos ? "" : file.path.substr(0, slash);
        const std::string name = file.path.substr(slash + 1);
        if (name.ends_with(".distcp") || name == ".metadata" ||
            (name.starts_with("__") && name.ends_with(".metadata"))) {
            signs.dcp.insert(directory);
        } else if (name.ends_with("_model_states.pt") || name.ends_with("_optim_states.pt")) {
            signs.deepspeed.insert(directory);
        } else if (name == "model_optim_rng.pt" || name == "distrib_optim.pt") {
            signs.megatron_legacy = true;
        } else if (name == "metadata.json" && directory.empty()) {
            signs.megatron = true;
        } else if (name == "trainer_state.json" && directory.empty()) {
            signs.hf_trainer = true;
        } else if (name.starts_with("random_states_") && directory.empty()) {
            signs.accelerate = true;
        } else if (name.ends_with(".safetensors")) {
            signs.safetensors = true;
        } else if (name.ends_with(".pt") || name.ends_with(".pth") || name.ends_with(".ckpt")) {
            signs.torch = true;
        }
    }
    signs.megatron = (signs.megatron || root.starts_with("iter_")) && signs.dcp.contains("");
    // Before its state is written a Trainer's directory is known by its name.
    signs.hf_trainer = signs.hf_trainer ||
                       (root.starts_with("checkpoint-") && step_of_name(root) && !signs.accelerate);
    return signs;
}

Layout layout_of(const Signs& signs) {
    if (signs.hf_trainer) return Layout::hf_trainer;
    if (signs.megatron) return Layout::megatron;
    if (signs.megatron_legacy) return Layout::megatron_legacy;
    if (signs.accelerate) return Layout::accelerate;
    if (!signs.deepspeed.empty()) return Layout::deepspeed;
    if (!signs.dcp.empty()) return Layout::dcp;
    if (signs.safetensors) return Layout::safetensors;
    return signs.torch ? Layout::torch_files : Layout::plain;
}

void examine_layout(Examination& e, const Signs& signs, Layout layout) {
    for (const std::string& directory : signs.dcp) examine_dcp(e, directory);
    for (const std::string& directory : signs.deepspeed) examine_deepspeed(e, directory);
    switch (layout) {
        case Layout::hf_trainer:
            return examine_hf_trainer(e);
        case Layout::megatron:
            return examine_megatron(e);
        case Layout::megatron_legacy:
            return examine_megatron_legacy(e);
        case Layout::dcp:
        case Layout::deepspeed:
            // Files of its own may lie beside sharded parts in sub-directories.
            if (!signs.dcp.contains("") && !signs.deepspeed.contains("")) e.no_end_mark();
            return;
        case Layout::accelerate:
        case Layout::safetensors:
        case Layout::torch_files:
        case Layout::plain:
            return e.no_end_mark();
    }
}

Completeness judge(Examination& e, sys::Env& env, const Recognition& found) {
    if (e.is_flawed()) return Completeness::incomplete;
    if (e.has_end_mark()) return Completeness::complete;
    const auto quiet = static_cast<double>(env.now_ns() - found.tree.newest_ns) * 1e-9;
    return quiet * kSecond >= e.options().quiet ? Completeness::complete : Completeness::settling;
}

}  // namespace

std::string_view name(Layout layout) {
    for (const LayoutName& known : kLayouts) {
        if (known.layout == layout) return known.name;
    }
    return "plain";
}

std::optional<Layout> parse_layout(std::string_view text) {
    for (const LayoutName& known : kLayouts) {
        if (known.name == text) return known.layout;
    }
    return std::nullopt;
}

std::optional<std::int64_t> step_of_name(std::string_view name) {
    constexpr std::string_view kDigits = "0123456789";
    const std::size_t last = name.find_last_of(kDigits);
    if (last == std::string_view::npos) return std::nullopt;
    const std::size_t before = name.substr(0, last + 1).find_last_not_of(kDigits);
    const std::size_t first = before == std::string_view::npos ? 0 : before + 1;
    std::int64_t step = 0;
    const auto end = std::from_chars(name.data() + first, name.data() + last + 1, step);
    if (end.ec != std::errc()) return std::nullopt;
    return step;
}

Result<Recognition> recognise(sys::Env& env, const std::string& path,
                              const RecogniseOptions& options) {
    Recognition found;
    auto tree = read_tree(env, path);
    if (!tree) return tree.error();
    found.tree = std::move(*tree);
    Examination e(env, options, found);
    const Signs signs = signs_of(found.tree);
    found.layout = layout_of(signs);
    if (found.tree.files.empty()) e.against("", "it holds no files");
    if (found.tree.vanished) e.against("", "files vanished while it was read");
    const std::string name = found.tree.root.substr(found.tree.root.rfind('/') + 1);
    const bool is_single = found.tree.files.size() == 1 && path.ends_with(found.tree.files[0].path);
    found.step = step_of_name(is_single ? found.tree.files[0].path : name);
    if (is_temporary_name(name)) e.against(name, "the name of one that is being written");
    examine_files(e);
    examine_layout(e, signs, found.layout);
    if (!options.marker.empty()) {
        if (found.tree.find(options.marker) == nullptr) {
            e.against(options.marker, "missing: it is the marker of the end");
        } else if (found.layout == Layout::plain || found.layout == Layout::torch_files ||
                   found.layout == Layout::safetensors || found.layout == Layout::accelerate) {
            e.marked();
        }
    }
    found.state = judge(e, env, found);
    return found;
}

Result<std::vector<std::string>> find_checkpoints(sys::Env& env, const std::string& root) {
    const auto entries = env.list(root);
    if (!entries) return entries.error().as_error();
    std::vector<std::pair<std::int64_t, std::string>> steps;
    for (const sys::DirectoryEntry& entry : *entries) {
        const bool is_file = entry.kind == sys::FileKind::file;
        if (entry.kind == sys::FileKind::other || is_temporary_name(entry.name)) continue;
        if (is_file && !entry.name.ends_with(".ckpt")) continue;
        const auto step = step_of_name(entry.name);
        if (step) steps.emplace_back(*step, root + "/" + entry.name);
    }
    std::sort(steps.rbegin(), steps.rend());
    std::vector<std::string> paths;
    for (auto& [step, path] : steps) paths.push_back(std::move(path));
    return paths;
}

}  // namespace trainyard::store
