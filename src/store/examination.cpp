#include "examination.hpp"

#include <fmt/format.h>

#include <charconv>

#include "trainyard/base/text.hpp"

namespace trainyard::store {

void Examination::against(std::string_view path, std::string_view why) {
    constexpr int kMostShown = 20;
    if (++flaws_ > kMostShown) return;
    const std::string name = printable(path, 200);
    found_.reasons.push_back(name.empty() ? std::string(why) : fmt::format("{}: {}", name, why));
}

void Examination::with_file(const TreeFile& file, const std::function<void(const ReadAt&)>& use) {
    const std::string path = tree().root + "/" + file.path;
    const auto opened = env_.open(path);
    if (!opened) return against(file.path, "it cannot be opened any more");
    use([&](std::uint64_t offset, std::span<char> into) {
        const auto n = (*opened)->read_at(offset, into);
        return n && *n == into.size();
    });
}

std::optional<std::string> Examination::text_of(const std::string& path, std::uint64_t max_bytes) {
    return text_beside(tree().root + "/" + path, max_bytes);
}

std::optional<std::string> Examination::text_beside(const std::string& path,
                                                    std::uint64_t max_bytes) {
    auto text = sys::read_whole(env_, path, max_bytes);
    if (!text) return std::nullopt;
    return std::move(*text);
}

std::optional<Pickle> Examination::pickle_of(const TreeFile& file) {
    std::optional<std::string> record;
    with_file(file, [&](const ReadAt& read) {
        constexpr std::uint64_t kMost = std::uint64_t{64} << 20U;
        record = zip_record(file.size, read, "/data.pkl", kMost);
    });
    if (!record) return std::nullopt;
    auto pickle = Pickle::parse(std::move(*record), file.path);
    if (!pickle) return std::nullopt;
    return std::move(*pickle);
}

std::map<std::string, const TreeFile*> Examination::files_in(std::string_view directory) const {
    std::map<std::string, const TreeFile*> names;
    const std::string prefix = directory.empty() ? "" : std::string(directory) + "/";
    for (const TreeFile& file : tree().files) {
        if (!file.path.starts_with(prefix)) continue;
        const std::string name = file.path.substr(prefix.size());
        if (name.find('/') == std::string::npos) names[name] = &file;
    }
    return names;
}

std::optional<int> number_after(std::string_view name, std::string_view prefix) {
    const std::size_t at = name.find(prefix);
    if (at == std::string_view::npos) return std::nullopt;
    const char* begin = name.data() + at + prefix.size();
    int value = 0;
    const auto [end, failure] = std::from_chars(begin, name.data() + name.size(), value);
    if (failure != std::errc() || end == begin || value < 0) return std::nullopt;
    return value;
}

std::optional<doc::Node> parse_python_json(std::string text) {
    auto node = doc::parse_json(text, "json");
    if (node) return std::move(*node);
    // json.dump writes NaN and Infinity bare, which JSON forbids: a loss may be one.
    bool in_string = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (in_string && text[i] == '\\') {
            ++i;
        } else if (text[i] == '"') {
            in_string = !in_string;
        } else if (!in_string) {
            for (const std::string_view word : {"-Infinity", "Infinity", "NaN"}) {
                if (std::string_view(text).substr(i).starts_with(word)) {
                    text.replace(i, word.size(), std::string(word.size() - 1, ' ') + "0");
                    break;
                }
            }
        }
    }
    node = doc::parse_json(text, "json");
    if (!node) return std::nullopt;
    return std::move(*node);
}

}  // namespace trainyard::store
