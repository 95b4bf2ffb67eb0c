// Zip files as torch.save writes them. Layout: PKWARE APPNOTE.TXT 6.3.10, sections 4.3.7, 4.3.12,
// 4.3.14 to 4.3.16.

#include <algorithm>
#include <array>
#include <cstring>

#include "trainyard/store/tensor_files.hpp"

namespace trainyard::store {

namespace {

constexpr std::uint32_t kLocal = 0x04034b50;
constexpr std::uint32_t kCentral = 0x02014b50;
constexpr std::uint32_t kEnd = 0x06054b50;
constexpr std::uint32_t kEnd64 = 0x06064b50;
constexpr std::uint32_t kLocator = 0x07064b50;
constexpr std::size_t kEndSize = 22;
constexpr std::uint64_t kIn64 = 0xffffffff;  ///< "see the 64-bit field"

template <typename T>
T field(std::string_view bytes, std::size_t at) {
    T value = 0;
    if (at + sizeof value <= bytes.size()) std::memcpy(&value, bytes.data() + at, sizeof value);
    return value;
}

struct Directory {
    std::uint64_t offset = 0;
    std::uint64_t size = 0;
};

struct Found {
    std::optional<std::string> flaw;
    Directory directory;
};

std::optional<Directory> directory64(std::uint64_t end_record, const ReadAt& read) {
    std::array<char, 20> locator{};
    if (end_record < locator.size() || !read(end_record - locator.size(), locator)) {
        return std::nullopt;
    }
    const std::string_view l(locator.data(), locator.size());
    if (field<std::uint32_t>(l, 0) != kLocator) return std::nullopt;
    std::array<char, 56> record{};
    if (!read(field<std::uint64_t>(l, 8), record)) return std::nullopt;
    const std::string_view r(record.data(), record.size());
    if (field<std::uint32_t>(r, 0) != kEnd64) return std::nullopt;
    return Directory{field<std::uint64_t>(r, 48), field<std::uint64_t>(r, 40)};
}

Found find_directory(std::uint64_t size, const ReadAt& read) {
    constexpr std::uint64_t kMaxComment = 65535;
    std::string tail(std::min(size, kMaxComment + kEndSize), '\0');
    if (tail.size() < kEndSize || !read(size - tail.size(), tail)) {
        return {"it is too short for a zip", {}};
    }
    std::size_t at = tail.size() - kEndSize + 1;
    bool is_found = false;
    while (at > 0 && !is_found) {
        --at;
        is_found = field<std::uint32_t>(tail, at) == kEnd &&
                   at + kEndSize + field<std::uint16_t>(tail, at + 20) == tail.size();
    }
    if (!is_found) return {"the end record of its zip is missing: it was cut", {}};
    const std::uint64_t end_record = size - tail.size() + at;
    Directory directory{field<std::uint32_t>(tail, at + 16), field<std::uint32_t>(tail, at + 12)};
    if (directory.offset == kIn64 || directory.size == kIn64) {
        const auto larger = directory64(end_record, read);
        if (!larger) return {"the 64-bit end record of its zip is missing", {}};
        directory = *larger;
    }
    if (directory.offset > end_record || directory.size > end_record - directory.offset) {
        return {"its zip directory lies outside the file: it was cut", {}};
    }
    std::array<char, 4> first{};
    if (directory.size > 0 && (!read(directory.offset, first) ||
                               field<std::uint32_t>({first.data(), first.size()}, 0) != kCentral)) {
        return {"its zip directory is not where the end record says", {}};
    }
    return {std::nullopt, directory};
}

/// The offset, or the size, of a central entry; from its zip64 extra field if it does not fit.
std::uint64_t wide(std::string_view extra, std::uint64_t narrow, int before) {
    if (narrow != kIn64) return narrow;
    for (std::size_t at = 0; at + 4 <= extra.size();) {
        const auto length = field<std::uint16_t>(extra, at + 2);
        if (field<std::uint16_t>(extra, at) == 1) {
            return field<std::uint64_t>(extra, at + 4 + 8 * static_cast<std::size_t>(before));
        }
        at += 4U + length;
    }
    return narrow;
}

std::optional<std::string> record_at(std::uint64_t offset, std::uint64_t size, const ReadAt& read) {
    std::array<char, 30> local{};
    if (!read(offset, local)) return std::nullopt;
    const std::string_view l(local.data(), local.size());
    if (field<std::uint32_t>(l, 0) != kLocal) return std::nullopt;
    std::string contents(size, '\0');
    const std::uint64_t from =
        offset + local.size() + field<std::uint16_t>(l, 26) + field<std::uint16_t>(l, 28);
    if (!read(from, contents)) return std::nullopt;
    return contents;
}

}  // namespace

std::optional<std::string> zip_flaw(std::uint64_t size, const ReadAt& read) {
    return find_directory(size, read).flaw;
}

std::optional<std::string> zip_record(std::uint64_t size, const ReadAt& read,
                                      std::string_view suffix, std::uint64_t max_size) {
    const Found found = find_directory(size, read);
    constexpr std::uint64_t kMaxDirectory = std::uint64_t{256} << 20U;
    if (found.flaw || found.directory.size > kMaxDirectory) return std::nullopt;
    std::string central(found.directory.size, '\0');
    if (!read(found.directory.offset, central)) return std::nullopt;
    constexpr std::size_t kFixed = 46;
    for (std::size_t at = 0; at + kFixed <= central.size();) {
        const std::string_view c = std::string_view(central).substr(at);
        if (field<std::uint32_t>(c, 0) != kCentral) break;
        const auto name_size = field<std::uint16_t>(c, 28);
        const auto extra_size = field<std::uint16_t>(c, 30);
        const std::string_view name = c.substr(kFixed, name_size);
        if (name.ends_with(suffix)) {
            if (field<std::uint16_t>(c, 10) != 0 || c.size() < kFixed + name_size) {
                return std::nullopt;  // compressed
            }
            const std::string_view extra = c.substr(kFixed + name_size, extra_size);
            const auto plain = field<std::uint32_t>(c, 24);
            const auto packed = field<std::uint32_t>(c, 20);
            const std::uint64_t length = wide(extra, plain, 0);
            const int before = (plain == kIn64 ? 1 : 0) + (packed == kIn64 ? 1 : 0);
            const std::uint64_t offset = wide(extra, field<std::uint32_t>(c, 42), before);
            if (length > max_size) return std::nullopt;
            return record_at(offset, length, read);
        }
        at += kFixed + name_size + extra_size + field<std::uint16_t>(c, 32);
    }
    return std::nullopt;
}

std::optional<std::string> torch_flaw(std::uint64_t size, const ReadAt& read) {
    if (size == 0) return "it is empty";
    std::array<char, 4> first{};
    if (size < first.size()) return "it holds fewer than 4 bytes";
    if (!read(0, first)) return "it cannot be read";
    const auto magic = field<std::uint32_t>({first.data(), first.size()}, 0);
    if (magic == kLocal) return zip_flaw(size, read);
    if (magic == 0) return "it begins with zeros: its data never reached the disk";
    return std::nullopt;
}

}  // namespace trainyard::store
