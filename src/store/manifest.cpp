#include "trainyard/store/manifest.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "trainyard/base/text.hpp"
#include "trainyard/doc/node.hpp"
#include "trainyard/doc/reader.hpp"

namespace trainyard::store {

namespace {

constexpr std::string_view kSchema = "trainyard.store-manifest";
constexpr std::array<std::string_view, 4> kStates = {"committed", "aborted", "shard", "intent"};

std::string quoted(std::string_view text) {
    std::string out = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') out += '\\';
        if (static_cast<unsigned char>(c) < 0x20) {
            out += fmt::format("\\u{:04x}", static_cast<unsigned char>(c));
        } else {
            out += c;
        }
    }
    return out + "\"";
}

std::string base64(std::uint64_t checksum) { return aws::to_base64({kContentChecksum, checksum}); }

std::string file_line(const StoredFile& file) {
    std::string line =
        fmt::format(R"({{"path":{},"size":{},"crc64nvme":"{}","object":{},"node":{})",
                    quoted(escape_path(file.path)), file.size, base64(file.checksum),
                    quoted(file.object), file.node);
    if (!file.parts.empty()) {
        line += fmt::format(R"(,"part_size":{},"parts":[)", file.part_size);
        for (std::size_t i = 0; i < file.parts.size(); ++i) {
            line += fmt::format("{}\"{}\"", i == 0 ? "" : ",", base64(file.parts[i]));
        }
        line += "]";
    }
    return line + "}\n";
}

std::string head_line(const Manifest& m) {
    std::string line = fmt::format(
        R"({{"schema":"{}","schema_version":{},"state":"{}","id":{},"step":{},"layout":{},)"
        R"("nodes":{},"node":{},"attempt":{},"created":{},"created_at":"{}","created_by":{})",
        kSchema, kManifestVersion, kStates[static_cast<std::size_t>(m.state)], quoted(m.id), m.step,
        quoted(m.layout), m.nodes, m.node, quoted(escape_path(m.attempt)), m.created,
        format_time(m.created), quoted(m.created_by));
    if (m.state == ManifestState::intent) {
        line += fmt::format(R"(,"owner":{},"host":{},"boot":{},"pid":{},"start":{})",
                            quoted(escape_path(m.owner)), quoted(escape_path(m.host)),
                            quoted(m.boot), m.pid, m.start);
    }
    return line + "}\n";
}

/// One line at a time; the first mistake ends it.
class ManifestReader {
  public:
    ManifestReader(std::string_view text, std::string_view file) : text_(text), file_(file) {}

    Result<Manifest> read() {
        const std::optional<std::string_view> head_text = next();
        if (!head_text) return torn();
        const auto head = doc::parse_json(*head_text, file_);
        if (!head || !head->is(doc::Node::Kind::map)) return torn();
        if (const auto error = read_head(*head)) return *error;
        while (true) {
            const std::size_t begin = at_;
            const auto line = next();
            if (!line) return torn();
            const auto node = doc::parse_json(*line, file_);
            if (!node || !node->is(doc::Node::Kind::map)) return torn();
            if (node->find("path") == nullptr) return read_end(*node, begin);
            if (!read_file(*node)) return torn();
        }
    }

  private:
    std::optional<std::string_view> next() {
        const std::size_t end = text_.find('\n', at_);
        if (end == std::string_view::npos) return std::nullopt;
        const std::string_view line = text_.substr(at_, end - at_);
        at_ = end + 1;
        ++line_;
        return line;
    }
    Error mistake(std::string what, std::string fix) const {
        return bad_input(Diagnostic{.where = {std::string(file_), line_, 0},
                                    .what = std::move(what),
                                    .why = {},
                                    .fix = std::move(fix)});
    }
    Error torn() const {
        return mistake("not a whole manifest", "the checkpoint cannot be trusted: use another one");
    }
    static std::string text(const doc::Node& map, std::string_view key) {
        const doc::Node* value = map.find(key);
        return value != nullptr && value->is(doc::Node::Kind::string) ? value->text() : "";
    }
    static std::int64_t number(const doc::Node& map, std::string_view key) {
        const doc::Node* value = map.find(key);
        const bool is_there = value != nullptr && value->is(doc::Node::Kind::integer);
        return is_there ? value->as_integer() : 0;
    }
    static std::optional<std::uint64_t> checksum(const doc::Node& value) {
        const auto parsed = aws::parse_checksum(kContentChecksum, value.text());
        return parsed ? std::optional(parsed->value) : std::nullopt;
    }

    std::optional<Error> read_head(const doc::Node& head) {
        if (text(head, "schema") != kSchema) return mistake("not a manifest of a store", {});
        const std::int64_t version = number(head, "schema_version");
        if (version > kManifestVersion) {
            return mistake(fmt::format("a manifest of version {}; this program reads {}", version,
                                       kManifestVersion),
                           "use a newer trainyard");
        }
        const auto state = std::find(kStates.begin(), kStates.end(), text(head, "state"));
        if (version < 1 || state == kStates.end()) return torn();
        m_.state = static_cast<ManifestState>(state - kStates.begin());
        m_.id = text(head, "id");
        m_.step = number(head, "step");
        m_.layout = text(head, "layout");
        m_.nodes = static_cast<int>(std::clamp<std::int64_t>(number(head, "nodes"), 1, 1 << 20));
        m_.node = static_cast<int>(std::clamp<std::int64_t>(number(head, "node"), 0, 1 << 20));
        m_.attempt = unescape_path(text(head, "attempt")).value_or("");
        m_.created = std::clamp<std::int64_t>(number(head, "created"), 0, 253402300799);
        m_.created_by = text(head, "created_by");
        m_.owner = unescape_path(text(head, "owner")).value_or("");
        m_.host = unescape_path(text(head, "host")).value_or("");
        m_.boot = text(head, "boot");
        m_.pid = number(head, "pid");
        m_.start = static_cast<std::uint64_t>(number(head, "start"));
        return std::nullopt;
    }

    bool read_file(const doc::Node& line) {
        StoredFile file;
        const auto path = unescape_path(text(line, "path"));
        // Nothing outside data/ is ever read, let alone deleted, because a manifest says so.
        const std::string object = text(line, "object");
        const doc::Node* sum = line.find("crc64nvme");
        const std::int64_t size = number(line, "size");
        if (!path || path->empty() || !object.starts_with("data/") || sum == nullptr || size < 0) {
            return false;
        }
        // A restore must stay below its directory, whoever wrote the manifest.
        for (const std::string_view part : split(*path, '/')) {
            if (part.empty() || part == "." || part == "..") return false;
        }
        const auto crc = checksum(*sum);
        if (!crc) return false;
        file.path = *path;
        file.size = static_cast<std::uint64_t>(size);
        file.checksum = *crc;
        file.object = object;
        file.node = static_cast<int>(std::clamp<std::int64_t>(number(line, "node"), 0, 1 << 20));
        if (const doc::Node* parts = line.find("parts")) {
            const std::int64_t part_size = number(line, "part_size");
            if (part_size < 1) return false;
            file.part_size = static_cast<std::uint64_t>(part_size);
            for (const doc::Node& part : parts->items()) {
                const auto value = checksum(part);
                if (!value) return false;
                file.parts.push_back(*value);
            }
            const std::uint64_t wanted =
                file.size / file.part_size + (file.size % file.part_size != 0 ? 1 : 0);
            if (file.parts.size() != wanted || wanted == 0) return false;
        }
        m_.files.push_back(std::move(file));
        return true;
    }

    Result<Manifest> read_end(const doc::Node& end, std::size_t begin) {
        const doc::Node* sum = end.find("crc64nvme");
        const auto wanted = sum != nullptr ? checksum(*sum) : std::nullopt;
        const auto is = aws::checksum_of(kContentChecksum, text_.substr(0, begin)).value;
        if (!wanted || *wanted != is || at_ != text_.size()) return torn();
        if (number(end, "files") != static_cast<std::int64_t>(m_.files.size())) return torn();
        return std::move(m_);
    }

    std::string_view text_;
    std::string_view file_;
    std::size_t at_ = 0;
    int line_ = 0;
    Manifest m_;
};

}  // namespace

std::uint64_t Manifest::bytes() const {
    std::uint64_t total = 0;
    for (const StoredFile& file : files) total += file.size;
    return total;
}

std::string write_manifest(const Manifest& manifest) {
    std::string text = head_line(manifest);
    for (const StoredFile& file : manifest.files) text += file_line(file);
    const std::uint64_t sum = aws::checksum_of(kContentChecksum, text).value;
    return text +
           fmt::format(R"({{"files":{},"bytes":{},"crc64nvme":"{}"}})", manifest.files.size(),
                       manifest.bytes(), base64(sum)) +
           "\n";
}

Result<Manifest> read_manifest(std::string_view text, std::string_view file) {
    return ManifestReader(text, file).read();
}

std::string escape_path(std::string_view path) {
    std::string out;
    while (!path.empty()) {
        const std::size_t good = valid_utf8_prefix(path);
        for (const char c : path.substr(0, good)) {
            const auto byte = static_cast<unsigned char>(c);
            out += byte < 0x20 || byte == 0x7f || c == '%' ? fmt::format("%{:02X}", byte)
                                                           : std::string(1, c);
        }
        path.remove_prefix(good);
        if (path.empty()) break;
        out += fmt::format("%{:02X}", static_cast<unsigned char>(path.front()));
        path.remove_prefix(1);
    }
    return out;
}

std::optional<std::string> unescape_path(std::string_view text) {
    std::string out;
    constexpr std::string_view kDigits = "0123456789ABCDEF";
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '%') {
            out += text[i];
            continue;
        }
        const std::size_t high =
            i + 2 <= text.size() - 1 ? kDigits.find(text[i + 1]) : std::string::npos;
        const std::size_t low =
            i + 2 <= text.size() - 1 ? kDigits.find(text[i + 2]) : std::string::npos;
        if (high == std::string::npos || low == std::string::npos) return std::nullopt;
        out += static_cast<char>(16 * high + low);
        i += 2;
    }
    if (out.find('\0') != std::string::npos) return std::nullopt;
    return out;
}

std::string format_time(std::int64_t seconds) {
    return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(static_cast<std::time_t>(seconds)));
}

}  // namespace trainyard::store
