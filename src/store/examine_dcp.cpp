// PyTorch's distributed checkpoint: "__{rank}_{n}.distcp" files, and ".metadata" written last.

#include <fmt/format.h>

#include <array>
#include <cstring>
#include <set>

#include "examination.hpp"

namespace trainyard::store {

namespace {

constexpr std::uint64_t kMostMetadata = std::uint64_t{1} << 30U;

bool is_zip_at(const ReadAt& read, std::uint64_t offset) {
    std::array<char, 4> first{};
    return read(offset, first) && std::memcmp(first.data(), "PK\x03\x04", first.size()) == 0;
}

/// The items of a file are zips of torch.save one after another. A file of another writer, whose
/// first item is none, is only measured.
void examine_items(Examination& e, const TreeFile& file, const DcpFile& expected) {
    e.with_file(file, [&](const ReadAt& read) {
        std::array<char, 4> first{};
        constexpr std::array<char, 4> kZeros{};
        if (!read(0, first)) return e.against(file.path, "it cannot be read");
        if (first == kZeros) {
            return e.against(file.path, "it begins with zeros: its data never reached the disk");
        }
        if (!is_zip_at(read, 0)) return;
        if (!is_zip_at(read, expected.last_offset)) {
            return e.against(file.path, "its last item does not begin as one");
        }
        const std::uint64_t size = expected.size - expected.last_offset;
        const auto flaw = zip_flaw(size, [&](std::uint64_t offset, std::span<char> into) {
            return read(expected.last_offset + offset, into);
        });
        if (flaw) e.against(file.path, *flaw);
    });
}

void examine_against(Examination& e, const std::string& prefix, const DcpMetadata& metadata) {
    for (const auto& [name, expected] : metadata.files) {
        const std::string path = prefix + name;
        const TreeFile* file = e.tree().find(path);
        if (file == nullptr) {
            e.against(path, "missing, though the metadata names it");
        } else if (file->size < expected.size) {
            e.against(path, fmt::format("it has {} of {} bytes", file->size, expected.size));
        } else if (expected.size > 0) {
            examine_items(e, *file, expected);
        }
    }
}

DcpMetadata metadata_of(Examination& e, const std::string& path) {
    auto text = e.text_of(path, kMostMetadata);
    DcpMetadata metadata;
    if (!text) {
        metadata.flaw = "it cannot be read";
        return metadata;
    }
    return read_dcp_metadata(std::move(*text), path);
}

/// use_collectives=False: "__{rank}.metadata", one a rank.
void examine_rank_metadata(Examination& e, const std::string& prefix,
                           const std::map<std::string, const TreeFile*>& names) {
    std::set<int> ranks;
    for (const auto& [name, file] : names) {
        if (!name.ends_with(".metadata")) continue;
        if (const auto rank = number_after(name, "__")) ranks.insert(*rank);
        const DcpMetadata metadata = metadata_of(e, file->path);
        if (!metadata.flaw.empty()) {
            e.against(file->path, metadata.flaw);
        } else {
            examine_against(e, prefix, metadata);
        }
    }
    const int wanted = e.options().ranks.value_or(ranks.empty() ? 1 : *ranks.rbegin() + 1);
    for (int rank = 0; rank < wanted; ++rank) {
        if (!ranks.contains(rank)) {
            return e.against(prefix, fmt::format("the metadata of rank {} is missing", rank));
        }
    }
    if (!e.options().ranks) e.no_end_mark();
}

}  // namespace

void examine_dcp(Examination& e, const std::string& directory) {
    const std::string prefix = directory.empty() ? "" : directory + "/";
    const auto names = e.files_in(directory);
    const auto global = names.find(".metadata");
    if (global == names.end()) {
        for (const auto& [name, file] : names) {
            if (name.starts_with("__") && name.ends_with(".metadata")) {
                return examine_rank_metadata(e, prefix, names);
            }
        }
        return e.against(prefix + ".metadata", "missing: it is written last");
    }
    const DcpMetadata metadata = metadata_of(e, global->second->path);
    if (!metadata.flaw.empty()) return e.against(global->second->path, metadata.flaw);
    if (!metadata.has_storage) return e.no_end_mark();
    examine_against(e, prefix, metadata);
    // Overwritten in place: data younger than the metadata is of another save, unless the files
    // were copied, which is over soon.
    for (const auto& [name, expected] : metadata.files) {
        const TreeFile* file = e.tree().find(prefix + name);
        if (file != nullptr && file->modified_ns > global->second->modified_ns) {
            return e.no_end_mark();
        }
    }
}

}  // namespace trainyard::store
