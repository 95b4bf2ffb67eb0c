#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "trainyard/doc/node.hpp"
#include "trainyard/store/tensor_files.hpp"

namespace trainyard::store {

namespace {

using doc::Node;

/// MAX_HEADER_SIZE of the Rust crate.
constexpr std::uint64_t kMaxHeader = 100'000'000;

std::optional<std::uint64_t> whole(const Node& node) {
    if (!node.is(Node::Kind::integer) || node.as_integer() < 0) return std::nullopt;
    return static_cast<std::uint64_t>(node.as_integer());
}

using Span = std::pair<std::uint64_t, std::uint64_t>;

std::optional<Span> offsets_of(const Node& tensor) {
    const Node* offsets = tensor.find("data_offsets");
    if (offsets == nullptr || offsets->items().size() != 2) return std::nullopt;
    const auto begin = whole(offsets->items()[0]);
    const auto end = whole(offsets->items()[1]);
    if (!begin || !end || *end < *begin) return std::nullopt;
    return Span{*begin, *end};
}

/// 0: a type that is not known, whose size is not checked.
std::uint64_t bits_of(std::string_view type) {
    static constexpr std::array<std::pair<std::string_view, std::uint64_t>, 16> kBits = {
        {{"F64", 64},
         {"I64", 64},
         {"U64", 64},
         {"F32", 32},
         {"I32", 32},
         {"U32", 32},
         {"F16", 16},
         {"BF16", 16},
         {"I16", 16},
         {"U16", 16},
         {"F8_E4M3", 8},
         {"F8_E5M2", 8},
         {"I8", 8},
         {"U8", 8},
         {"BOOL", 8},
         {"C64", 64}}};
    for (const auto& [name, bits] : kBits) {
        if (name == type) return bits;
    }
    return 0;
}

/// Whether shape and type give the length; true where that cannot be told.
bool has_its_length(const Node& tensor, std::uint64_t length) {
    const Node* shape = tensor.find("shape");
    const Node* type = tensor.find("dtype");
    if (shape == nullptr || type == nullptr) return false;
    const std::uint64_t bits = bits_of(type->text());
    if (bits == 0) return true;
    std::uint64_t total = bits / 8;
    for (const Node& extent : shape->items()) {
        const auto n = whole(extent);
        if (!n || __builtin_mul_overflow(total, *n, &total)) return false;
    }
    return total == length;
}

}  // namespace

std::optional<std::string> safetensors_flaw(std::uint64_t size, const ReadAt& read) {
    std::array<char, 8> raw{};
    if (size < raw.size() || !read(0, raw)) return "shorter than the 8 bytes of a header length";
    std::uint64_t header = 0;
    std::memcpy(&header, raw.data(), raw.size());
    if (header == 0 || header > kMaxHeader) return fmt::format("its header length is {}", header);
    if (header > size - raw.size()) return "it ends inside its header";
    std::string text(header, '\0');
    if (!read(raw.size(), text)) return "its header cannot be read";
    const auto tree = doc::parse_json(text, "header");
    if (!tree || !tree->is(Node::Kind::map)) return "its header is not JSON";
    std::vector<Span> spans;
    for (const auto& [name, tensor] : tree->members()) {
        if (name == "__metadata__") continue;
        const auto span = offsets_of(tensor);
        if (!span) return "a tensor of its header has no data_offsets";
        if (!has_its_length(tensor, span->second - span->first)) {
            return "a tensor's length is not that of its shape";
        }
        spans.push_back(*span);
    }
    std::sort(spans.begin(), spans.end());
    std::uint64_t end = 0;
    for (const Span& span : spans) {
        if (span.first != end) return "its tensors leave a hole or overlap";
        end = span.second;
    }
    const std::uint64_t there = size - raw.size() - header;
    if (there < end) return fmt::format("{} bytes of tensors are missing", end - there);
    if (there > end) return fmt::format("{} bytes too many at its end", there - end);
    return std::nullopt;
}

}  // namespace trainyard::store
