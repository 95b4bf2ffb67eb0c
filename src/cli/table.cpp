#include "table.hpp"

#include <algorithm>

#include "trainyard/base/contract.hpp"

namespace trainyard::cli {

std::size_t display_width(std::string_view text) {
    std::size_t width = 0;
    bool in_escape = false;
    for (const char c : text) {
        if (in_escape) {
            in_escape = c != 'm';
        } else if (c == '\033') {
            in_escape = true;
        } else if ((static_cast<unsigned char>(c) & 0xC0U) != 0x80U) {
            ++width;
        }
    }
    return width;
}

void Table::add(std::vector<std::string> cells) {
    TRAINYARD_ASSERT(cells.size() == columns_.size(), "a row has one cell per column");
    rows_.push_back(std::move(cells));
}

std::string Table::text() const {
    std::vector<std::string> header;
    header.reserve(columns_.size());
    for (const Column& column : columns_) {
        header.push_back(column.title);
    }
    std::vector<std::size_t> widths(columns_.size(), 0);
    const auto widen = [&](const std::vector<std::string>& cells) {
        for (std::size_t i = 0; i < cells.size(); ++i) {
            widths[i] = std::max(widths[i], display_width(cells[i]));
        }
    };
    widen(header);
    std::for_each(rows_.begin(), rows_.end(), widen);

    std::string out;
    const auto append = [&](const std::vector<std::string>& cells) {
        std::string line;
        for (std::size_t i = 0; i < cells.size(); ++i) {
            const std::string padding(widths[i] - display_width(cells[i]), ' ');
            const bool is_right = columns_[i].align == Align::right;
            line += (i == 0 ? "" : "  ");
            line += is_right ? padding + cells[i] : cells[i] + padding;
        }
        line.erase(line.find_last_not_of(' ') + 1);
        out += line + "\n";
    };
    append(header);
    std::for_each(rows_.begin(), rows_.end(), append);
    return out;
}

}  // namespace trainyard::cli
