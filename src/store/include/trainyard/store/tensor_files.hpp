#pragma once
// Whether a file of tensors is whole, told from a few kilobytes of it. No answer needs Python.

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace trainyard::store {

/// Bytes of a file: fills `into` from `offset` on; false if they are not there.
using ReadAt = std::function<bool(std::uint64_t offset, std::span<char> into)>;

/// nullopt: whole. Else why not. Format: 8 bytes of header length, a JSON header, then exactly the
/// bytes that the header's offsets promise (github.com/huggingface/safetensors, README).
std::optional<std::string> safetensors_flaw(std::uint64_t size, const ReadAt& read);

/// Of a zip as torch.save writes it (stored, not deflated): its end record stands at the end and
/// points at a central directory. `size` bytes.
std::optional<std::string> zip_flaw(std::uint64_t size, const ReadAt& read);

/// The stored record of a zip whose name ends in `suffix`; nullopt if there is none, it is
/// compressed or larger than `max_size`.
std::optional<std::string> zip_record(std::uint64_t size, const ReadAt& read,
                                      std::string_view suffix, std::uint64_t max_size);

/// A file of torch.save, by its first bytes: a zip, or the bare pickle of torch before 1.6, of
/// which nothing more can be told. Files that are neither are of no kind we know: no flaw, unless
/// they are empty or begin with zeros.
std::optional<std::string> torch_flaw(std::uint64_t size, const ReadAt& read);

/// What PyTorch's distributed checkpoint says of its files in ".metadata".
struct DcpFile {
    std::uint64_t size = 0;         ///< at least: the largest end of an item
    std::uint64_t last_offset = 0;  ///< the item that ends there
    std::size_t items = 0;
};
struct DcpMetadata {
    bool has_storage = false;  ///< false: a storage of another kind, whose files are not known
    std::map<std::string, DcpFile> files;
    std::string flaw;  ///< not empty: no metadata of a distributed checkpoint
};
DcpMetadata read_dcp_metadata(std::string pickle, std::string_view file);

}  // namespace trainyard::store
