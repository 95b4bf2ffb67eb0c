// Lines and cells of the text formats without a header.

#include <algorithm>

#include "import_format.hpp"
#include "trainyard/base/text.hpp"

namespace trainyard::spot {

bool LineReader::next() {
    while (!rest_.empty()) {
        const std::size_t end = rest_.find('\n');
        line_ = rest_.substr(0, end);
        rest_ = end == std::string_view::npos ? std::string_view{} : rest_.substr(end + 1);
        ++number_;
        if (!trim(line_).empty()) return true;
    }
    return false;
}

std::vector<Cell> LineReader::cells() const {
    std::vector<Cell> cells;
    std::size_t at = 0;
    while (true) {
        const std::size_t end = std::min(line_.find(',', at), line_.size());
        const std::string_view raw = line_.substr(at, end - at);
        const std::size_t lead = raw.find_first_not_of(" \t");
        const std::size_t skip = lead == std::string_view::npos ? 0 : lead;
        cells.push_back({trim(raw), static_cast<int>(at + skip) + 1});
        if (end == line_.size()) return cells;
        at = end + 1;
    }
}

Location LineReader::place(std::string_view file, const Cell& cell) const {
    return {std::string(file), number_, cell.column};
}

std::optional<int> parse_nodes(std::string_view s) {
    const auto value = parse_number(s);
    if (!value || *value < 0 || *value > kMaxNodes || *value != static_cast<int>(*value))
        return std::nullopt;
    return static_cast<int>(*value);
}

void set_step(PoolTrace& pool, double at, int nodes) {
    if (!pool.start.empty() && pool.start.back() == at) {
        // Several lines of one instant: the last one holds.
        pool.start.pop_back();
        pool.nodes.pop_back();
    }
    append(pool.start, pool.nodes, at, nodes);
    pool.end = at * kSecond;
}

void begin_at_zero(PoolTrace& pool) {
    if (!pool.start.empty() && pool.start.front() > 0) {
        pool.start.insert(pool.start.begin(), 0);
        pool.nodes.insert(pool.nodes.begin(), 0);
        // The first value may be 0 as well.
        if (pool.nodes[1] == 0) {
            pool.start.erase(pool.start.begin() + 1);
            pool.nodes.erase(pool.nodes.begin() + 1);
        }
    }
}

}  // namespace trainyard::spot
