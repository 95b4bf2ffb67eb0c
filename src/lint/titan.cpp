#include "titan.hpp"

#include <algorithm>

namespace trainyard::lint::titan {

const Launch* launch_of(const Case& c, const Document& d) {
    const std::string& path = d.source->path;
    const std::string name = path.substr(path.rfind('/') + 1);
    const Launch* found = nullptr;
    for (const Launch& l : launches(c)) {
        const bool names = std::any_of(l.words.begin(), l.words.end(), [&](const Said& w) {
            return resolved(*l.document, w.text).ends_with(name);
        });
        if (!names) continue;
        if (found != nullptr) return nullptr;
        found = &l;
    }
    return found;
}

std::int64_t world_of(const Case& c, const Document& d) {
    const Launch* l = launch_of(c, d);
    return l == nullptr ? 0 : l->world_size(100'000);
}

std::int64_t degree(const Document& d, std::string_view name, std::int64_t otherwise) {
    const auto n = count(&d.root, {"parallelism", name});
    return n ? std::clamp<std::int64_t>(n->value, -1'000'000, 1'000'000) : otherwise;
}

Said place(const Document& d, std::string_view name) {
    if (const Said at = said(&d.root, {"parallelism", name})) return at;
    const doc::Node* block = get(&d.root, "parallelism");
    return block != nullptr ? key_said(*block, "parallelism") : Said{"", d.head()};
}

Said converter(const Document& d, std::string_view name) {
    for (const Said& word : all_said(get(&d.root, {"model", "converters"}))) {
        if (word.text == name || word.text == "quantize.linear." + std::string(name)) return word;
    }
    const doc::Node* old = get(&d.root, {"float8", "enable_float8_linear"});
    if (name == "float8" && is_true(old)) return key_said(*old, "enable_float8_linear");
    return {};
}

std::optional<bool> compiles(const Document& d) {
    for (const doc::Node* flag :
         {get(&d.root, {"compile", "enable"}), get(&d.root, {"training", "compile"})}) {
        if (flag != nullptr) return is_true(flag);
    }
    return std::nullopt;
}

}  // namespace trainyard::lint::titan
