// Rules for single files, whatever the layout.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "examination.hpp"
#include "trainyard/base/text.hpp"

namespace trainyard::store {

namespace {

std::string_view base_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }
std::string_view directory_of(std::string_view path) {
    const std::size_t slash = path.rfind('/');
    return slash == std::string_view::npos ? std::string_view() : path.substr(0, slash);
}

bool ends_in_one_of(std::string_view name, std::span<const std::string_view> endings) {
    return std::any_of(endings.begin(), endings.end(),
                       [&](std::string_view ending) { return name.ends_with(ending); });
}

constexpr std::array<std::string_view, 5> kTorch = {".pt", ".pth", ".ckpt", ".bin", ".distcp"};
/// Files that are never empty in a whole checkpoint.
constexpr std::array<std::string_view, 10> kNeverEmpty = {
    ".pt",          ".pth", ".ckpt", ".bin", ".distcp",
    ".safetensors", ".npz", ".json", ".pkl", ".metadata"};

void examine_json(Examination& e, const TreeFile& file) {
    constexpr std::uint64_t kMost = std::uint64_t{16} << 20U;
    if (file.size > kMost) return;
    auto text = e.text_of(file.path, kMost);
    if (!text) return e.against(file.path, "it cannot be read");
    if (!parse_python_json(std::move(*text))) e.against(file.path, "it is no whole JSON");
}

void examine_contents(Examination& e, const TreeFile& file) {
    const std::string_view name = base_name(file.path);
    std::optional<std::string> flaw;
    if (name.ends_with(".safetensors")) {
        e.with_file(file, [&](const ReadAt& read) { flaw = safetensors_flaw(file.size, read); });
    } else if (ends_in_one_of(name, kTorch) && !name.ends_with(".distcp")) {
        e.with_file(file, [&](const ReadAt& read) { flaw = torch_flaw(file.size, read); });
    } else if (name.ends_with(".json")) {
        examine_json(e, file);
    }
    if (flaw) e.against(file.path, *flaw);
}

/// "model.safetensors.index.json": every file of its weight_map is there.
void examine_index(Examination& e, const TreeFile& index) {
    constexpr std::uint64_t kMost = std::uint64_t{16} << 20U;
    auto text = e.text_of(index.path, kMost);
    if (!text) return e.against(index.path, "it cannot be read");
    const auto tree = parse_python_json(std::move(*text));
    const doc::Node* map = tree ? tree->find("weight_map") : nullptr;
    if (map == nullptr) return e.against(index.path, "it has no weight_map");
    std::set<std::string> names;
    for (const auto& [tensor, file] : map->members()) names.insert(file.text());
    const std::string_view directory = directory_of(index.path);
    for (const std::string& name : names) {
        const std::string path = directory.empty() ? name : fmt::format("{}/{}", directory, name);
        if (e.tree().find(path) == nullptr) {
            e.against(path, fmt::format("missing, though {} names it", base_name(index.path)));
        }
    }
}

/// "model-00002-of-00005.safetensors": all five are there.
void examine_shards(Examination& e) {
    struct Family {
        std::set<int> numbers;
        std::string example;
    };
    std::map<std::pair<std::string, int>, Family> families;
    for (const TreeFile& file : e.tree().files) {
        const std::size_t of = file.path.rfind("-of-");
        if (of == std::string::npos) continue;
        const auto total = number_after(std::string_view(file.path).substr(of), "-of-");
        const std::size_t dash = file.path.rfind('-', of - 1);
        if (!total || of == 0 || dash == std::string::npos) continue;
        const auto number = number_after(std::string_view(file.path).substr(dash, of - dash), "-");
        const std::size_t digits = file.path.find_first_not_of("0123456789", of + 4);
        if (!number || digits == std::string::npos) continue;
        Family& family = families[{file.path.substr(0, dash) + file.path.substr(digits), *total}];
        family.numbers.insert(*number);
        family.example = file.path;
    }
    for (const auto& [key, family] : families) {
        const auto there = static_cast<int>(family.numbers.size());
        if (there < key.second) {
            e.against(family.example,
                      fmt::format("{} of its {} shards are there", there, key.second));
        }
    }
}

}  // namespace

bool is_temporary_name(std::string_view name) {
    constexpr std::array<std::string_view, 7> kEndings = {
        ".tmp", ".dirty", "-unfinished", ".incomplete", ".part", ".partial", ".temp"};
    return ends_in_one_of(name, kEndings) || name.starts_with("tmp-") || name.starts_with(".tmp") ||
           name.starts_with("tmp_") || name.find(".orbax-checkpoint-tmp") != std::string_view::npos;
}

void examine_files(Examination& e) {
    for (const TreeFile& file : e.tree().files) {
        const std::vector<std::string_view> parts = split(file.path, '/');
        if (std::any_of(parts.begin(), parts.end(), is_temporary_name)) {
            e.against(file.path, "the name of a file that is being written");
        } else if (file.size == 0) {
            if (ends_in_one_of(file.path, kNeverEmpty)) e.against(file.path, "it is empty");
        } else {
            examine_contents(e, file);
            if (file.path.ends_with(".index.json")) examine_index(e, file);
        }
    }
    examine_shards(e);
}

}  // namespace trainyard::store
