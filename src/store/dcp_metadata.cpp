#include <algorithm>

#include "trainyard/store/pickle.hpp"
#include "trainyard/store/tensor_files.hpp"

namespace trainyard::store {

namespace {

using Kind = Pickle::Kind;

/// A string, or a pathlib path: its parts joined.
std::optional<std::string> path_of(const Pickle& pickle, Pickle::Id id) {
    if (pickle.kind(id) == Kind::text) return std::string(pickle.text(id));
    if (pickle.kind(id) != Kind::object) return std::nullopt;
    const Pickle::Id arguments = pickle.items(id)[1];
    std::string path;
    for (const Pickle::Id part : pickle.items(arguments)) {
        if (pickle.kind(part) != Kind::text) return std::nullopt;
        path += (path.empty() || path == "/" ? "" : "/") + std::string(pickle.text(part));
    }
    return path;
}

bool stays_inside(std::string_view path) {
    return !path.empty() && path.front() != '/' && path != ".." && !path.starts_with("../") &&
           path.find("/../") == std::string_view::npos && !path.ends_with("/..");
}

/// One _StorageInfo: which bytes of which file.
std::string add_item(const Pickle& pickle, Pickle::Id info, DcpMetadata& into, DcpFile** last,
                     std::string& last_path) {
    const auto path_id = pickle.find(info, "relative_path");
    const auto offset = pickle.find_integer(info, "offset");
    const auto length = pickle.find_integer(info, "length");
    if (!path_id || !offset || !length) return "an item without path, offset and length";
    // Neighbouring items mostly lie in the same file.
    const bool same = *last != nullptr && pickle.kind(*path_id) == Kind::text &&
                      pickle.text(*path_id) == last_path;
    if (!same) {
        const auto path = path_of(pickle, *path_id);
        if (!path || !stays_inside(*path)) return "an item outside the directory";
        last_path = *path;
        *last = &into.files[last_path];
    }
    if (*offset < 0 || *length < 0 || *offset > INT64_MAX - *length) return "a negative size";
    DcpFile& file = **last;
    const auto end = static_cast<std::uint64_t>(*offset + *length);
    if (end >= file.size) {
        file.size = end;
        file.last_offset = static_cast<std::uint64_t>(*offset);
    }
    ++file.items;
    return {};
}

}  // namespace

DcpMetadata read_dcp_metadata(std::string text, std::string_view file) {
    DcpMetadata metadata;
    const auto pickle = Pickle::parse(std::move(text), file);
    if (!pickle) {
        metadata.flaw = pickle.error().diagnostics.front().what;
        return metadata;
    }
    constexpr std::string_view kClass = "torch.distributed.checkpoint.metadata Metadata";
    constexpr std::string_view kBefore2 = "torch.distributed._shard.checkpoint.metadata Metadata";
    const Pickle::Id root = pickle->root();
    const std::string_view made_by = pickle->class_of(root);
    if (made_by != kClass && made_by != kBefore2) {
        metadata.flaw = "not the metadata of a distributed checkpoint";
        return metadata;
    }
    const auto storage = pickle->find(root, "storage_data");
    if (!storage || pickle->kind(*storage) == Kind::none) return metadata;
    if (pickle->kind(*storage) != Kind::dict) {
        metadata.flaw = "its storage_data is no dict";
        return metadata;
    }
    metadata.has_storage = true;
    DcpFile* last = nullptr;
    std::string last_path;
    const std::vector<Pickle::Id>& entries = pickle->items(*storage);
    for (std::size_t i = 1; i < entries.size(); i += 2) {
        if (pickle->kind(entries[i]) != Kind::object) {
            // Another storage's own record: nothing is known of its files.
            return {};
        }
        metadata.flaw = add_item(*pickle, entries[i], metadata, &last, last_path);
        if (!metadata.flaw.empty()) return metadata;
    }
    return metadata;
}

}  // namespace trainyard::store
