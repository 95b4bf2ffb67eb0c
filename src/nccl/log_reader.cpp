#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>

#include "trainyard/base/text.hpp"
#include "trainyard/nccl/log.hpp"

namespace trainyard::nccl {

namespace {

constexpr std::size_t kLongestLine = std::size_t{16} << 10U;
constexpr std::size_t kLongestText = 300;  ///< of a message that is kept
constexpr std::string_view kInfo = "NCCL INFO ";
constexpr std::string_view kWarn = "NCCL WARN ";

/// As string_view::find, but as fast as the machine: most lines of a job's log are not NCCL's.
std::size_t find(std::string_view text, std::string_view what) {
    const void* at = memmem(text.data(), text.size(), what.data(), what.size());
    return at == nullptr ? std::string_view::npos
                         : static_cast<std::size_t>(static_cast<const char*>(at) - text.data());
}

bool contains(std::string_view text, std::string_view what) {
    return find(text, what) != std::string_view::npos;
}

/// What follows `mark`, up to one of `ends`; empty if the mark is not there.
std::string_view after(std::string_view text, std::string_view mark,
                       std::string_view ends = " \t,") {
    const std::size_t at = find(text, mark);
    if (at == std::string_view::npos) return {};
    text.remove_prefix(at + mark.size());
    return text.substr(0, text.find_first_of(ends));
}

std::optional<std::uint64_t> whole(std::string_view digits) {
    std::uint64_t n = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), n);
    if (error != std::errc{} || end == digits.data()) return std::nullopt;
    return n;
}

/// Digits become "#", so that the same trouble on many ranks is counted once.
std::string without_numbers(std::string_view text) {
    std::string out;
    for (const char c : text.substr(0, kLongestText)) {
        const bool digit = c >= '0' && c <= '9';
        if (digit && !out.empty() && out.back() == '#') continue;
        out += digit ? '#' : c;
    }
    return out;
}

/// "ip-10-0-0-1" of "…host:123:456 [0] "; empty if it is not NCCL's beginning of a line.
std::string_view host_name(std::string_view prefix) {
    while (prefix.ends_with(' ')) prefix.remove_suffix(1);
    if (prefix.ends_with(']')) {
        const std::size_t open = prefix.rfind('[');
        if (open == std::string_view::npos) return {};
        prefix = prefix.substr(0, open);
        while (prefix.ends_with(' ')) prefix.remove_suffix(1);
    }
    // mpirun labels a line "[1,0]<stdout>:", Slurm "0: ".
    const std::size_t start = prefix.find_last_of(" \t>");
    if (start != std::string_view::npos) prefix.remove_prefix(start + 1);
    if (prefix.starts_with(':')) prefix.remove_prefix(1);
    const std::size_t thread = prefix.rfind(':');
    if (thread == std::string_view::npos || thread == 0) return {};
    const std::size_t process = prefix.rfind(':', thread - 1);
    if (process == std::string_view::npos || process == 0) return {};
    return prefix.substr(0, process);
}

/// "p5.48xlarge" of "…/p5.48xl-topo.xml".
std::string type_of_topology(std::string_view text) {
    const std::size_t end = find(text, "xl-topo");
    if (end == std::string_view::npos) return {};
    const std::size_t slash = text.rfind('/', end);
    const std::size_t start = slash == std::string_view::npos ? 0 : slash + 1;
    const std::string_view name = text.substr(start, end - start);
    if (name.empty() || name.size() > 30) return {};
    return std::string(name) + "xlarge";
}

}  // namespace

Seen* LogReader::note(Said& said, std::string_view key, std::string_view text, int column) {
    if (key.empty()) return nullptr;
    auto at = said.find(key);
    if (at == said.end()) {
        if (said.size() >= kMostKept) return nullptr;
        at = said.emplace(std::string(key), Seen{}).first;
    }
    Seen& s = at->second;
    if (s.count++ == 0) {
        s.line = static_cast<int>(log_.lines);
        s.column = column;
        s.text = std::string(text.substr(0, kLongestText));
    }
    return &s;
}

Host* LogReader::host_of(std::string_view prefix) {
    const std::string_view name = host_name(prefix);
    if (name.empty()) return nullptr;
    if (last_host_ == nullptr || name != last_name_) {
        auto at = log_.hosts.find(name);
        if (at == log_.hosts.end()) {
            if (log_.hosts.size() >= kMostKept) return nullptr;
            at = log_.hosts.emplace(std::string(name), Host{}).first;
            at->second.seen.line = static_cast<int>(log_.lines);
        }
        last_host_ = &at->second;
        last_name_ = std::string(name);
    }
    ++last_host_->seen.count;
    return last_host_;
}

void LogReader::feed(std::string_view chunk) {
    while (!chunk.empty()) {
        const std::size_t end = chunk.find('\n');
        const std::string_view piece = chunk.substr(0, end);
        if (end != std::string_view::npos && rest_.empty()) {
            line(piece.substr(0, kLongestLine));
        } else {
            rest_.append(piece.substr(0, kLongestLine - std::min(kLongestLine, rest_.size())));
            if (end != std::string_view::npos) {
                line(rest_);
                rest_.clear();
            }
        }
        if (end == std::string_view::npos) return;
        chunk.remove_prefix(end + 1);
    }
}

Log LogReader::finish() {
    if (!rest_.empty()) line(rest_);
    rest_.clear();
    last_host_ = nullptr;
    return std::move(log_);
}

void LogReader::line(std::string_view text) {
    ++log_.lines;
    if (text.ends_with('\r')) text.remove_suffix(1);
    const std::size_t at = find(text, "NCCL ");
    if (at == std::string_view::npos) {
        table_row(text);
        return;
    }
    const std::string_view from = text.substr(at);
    if (from.starts_with(kInfo)) {
        ++log_.nccl_lines;
        information(host_of(text.substr(0, at)), from.substr(kInfo.size()),
                    static_cast<int>(at + kInfo.size()) + 1);
    } else if (from.starts_with(kWarn)) {
        ++log_.nccl_lines;
        const std::string_view said = from.substr(kWarn.size());
        host_of(text.substr(0, at));
        note(log_.warnings, without_numbers(said), said, static_cast<int>(at + kWarn.size()) + 1);
        plugin(nullptr, said, static_cast<int>(at + kWarn.size()) + 1);
    } else if (from.starts_with("NCCL version ")) {
        // Rank 0 says it alone, without its name.
        note(log_.versions, after(from, "NCCL version "), from, static_cast<int>(at) + 1);
    }
}

void LogReader::information(Host* host, std::string_view text, int column) {
    if (text.starts_with("Channel ")) {
        channel(host, text, column);
    } else if (text.starts_with("NCCL version ")) {
        const std::string_view version = after(text, "NCCL version ");
        note(log_.versions, version, text, column);
        if (host != nullptr && host->nccl_version.empty()) host->nccl_version = version;
    } else if (text.starts_with("Using network ")) {
        note(log_.networks, after(text, "Using network ", "\t,("), text, column);
    } else if (contains(text, " nranks ")) {
        if (const auto n = whole(after(text, " nranks "))) log_.ranks = std::max(log_.ranks, *n);
        if (text.ends_with("Init START")) ++log_.inits_started;
        if (contains(text, "Init COMPLETE")) ++log_.inits_complete;
    } else if (contains(text, " set by environment to ")) {
        std::string_view value = after(text, " set by environment to ", "\t");
        if (value.ends_with('.')) value.remove_suffix(1);
        const std::string key =
            std::string(text.substr(0, text.find(' '))) + "=" + std::string(value);
        note(log_.environment, key, text, column);
    } else {
        plugin(host, text, column);
    }
}

void LogReader::plugin(Host* host, std::string_view text, int column) {
    const auto first = [&](std::optional<Seen>& fact) {
        if (!fact) {
            fact = Seen{0, static_cast<int>(log_.lines), column,
                        std::string(text.substr(0, kLongestText))};
        }
        ++fact->count;
    };
    if (contains(text, "aws-ofi-nccl ")) {
        const std::string_view version = after(text, "aws-ofi-nccl ");
        if (!version.empty() && version.front() >= '0' && version.front() <= '9') {
            note(log_.plugin_versions, version, text, column);
            if (host != nullptr && host->plugin_version.empty()) host->plugin_version = version;
        }
    }
    for (const std::string_view mark : {"Selected Provider is ", "Selected provider is "}) {
        const std::string_view provider = after(text, mark, " \t,;(");
        if (provider.empty()) continue;
        note(log_.providers, provider, text, column);
        note(log_.nic_counts, after(text, "(found ", " "), text, column);
    }
    note(log_.platforms, after(text, "Running on "), text, column);
    note(log_.platforms, type_of_topology(text), text, column);
    // Looking for an older symbol of the plugin ("Failed to find ncclNetPlugin_v8 symbol") is
    // normal.
    const bool absent =
        contains(text, "No plugin found") || contains(text, "Could not find: lib") ||
        contains(text, "No eligible providers") || contains(text, "initialization failed") ||
        (contains(text, "Plugin load") && contains(text, "returned 2"));
    if (absent && !contains(text, "tuner") && !contains(text, "TUNER")) first(log_.no_plugin);
    const std::string small = to_lower(text);
    if (contains(small, "disabling gdr") || contains(small, "direct rdma disabled") ||
        contains(small, "gpudirect rdma is disabled")) {
        first(log_.gdr_off);
    }
}

void LogReader::channel(Host* host, std::string_view text, int column) {
    const std::string_view path = after(text, " via NET/", "\t");
    if (path.empty()) return;
    ++log_.network_channels;
    const std::size_t slash = path.find('/');
    note(log_.transports, path.substr(0, slash), text, column);
    const bool direct = contains(path, "GDRDMA");
    if (direct) {
        ++log_.gdr_channels;
    } else if (!log_.channel_without_gdr) {
        log_.channel_without_gdr = Seen{1, static_cast<int>(log_.lines), column,
                                        std::string(text.substr(0, kLongestText))};
    }
    if (host == nullptr || slash == std::string_view::npos) return;
    const auto nic = whole(path.substr(slash + 1));
    if (nic && *nic < 1024) host->nics.insert(static_cast<int>(*nic));
}

/// `size count type redop root time algbw busbw #wrong …`, microseconds and GB/s.
void LogReader::table_row(std::string_view text) {
    constexpr std::string_view kAverage = "# Avg bus bandwidth";
    if (const std::size_t at = find(text, kAverage); at != std::string_view::npos) {
        const std::size_t colon = text.find(':', at);
        if (colon != std::string_view::npos) {
            log_.average_bus_gb_per_s = parse_number(trim(text.substr(colon + 1)));
        }
        return;
    }
    const std::string_view row = trim(text);
    if (row.empty() || row.front() < '0' || row.front() > '9') return;
    std::array<std::string_view, 9> cells;
    std::size_t n = 0;
    for (const std::string_view cell : split(row, ' ')) {
        if (cell.empty()) continue;
        if (n == cells.size()) break;
        cells[n++] = cell;
    }
    if (n < cells.size() || cells[2].front() < 'a' || cells[2].front() > 'z') return;
    const auto bytes = whole(cells[0]);
    const auto bus = parse_number(cells[7]);
    if (!bytes || !bus || !parse_number(cells[5]) || !parse_number(cells[6])) return;
    if (!log_.measured || *bytes >= log_.measured->bytes) {
        log_.measured = Measured{*bytes, *bus, static_cast<int>(log_.lines)};
    }
}

}  // namespace trainyard::nccl
