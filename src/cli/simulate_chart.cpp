#include "simulate_chart.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>

namespace trainyard::cli {

namespace {

/// Rows are not narrower than this share of their value.
constexpr double kFinest = 0.002;

/// Value below which `share` of the counts lie.
double quantile(const std::vector<spot::HistogramBin>& bins, double total, double share) {
    double seen = 0;
    for (const spot::HistogramBin& b : bins) {
        const double count = static_cast<double>(b.count);
        if (count > 0 && seen + count >= share * total)
            return b.from + (b.to - b.from) * (share * total - seen) / count;
        seen += count;
    }
    return bins.back().to;
}

/// Runs below `value`; those of the bin that holds it are spread evenly over the bin.
double runs_below(const std::vector<spot::HistogramBin>& bins, double value) {
    double sum = 0;
    for (const spot::HistogramBin& b : bins) {
        if (b.to <= value) {
            sum += static_cast<double>(b.count);
        } else if (b.from < value) {
            sum += static_cast<double>(b.count) * (value - b.from) / (b.to - b.from);
        }
    }
    return sum;
}

/// Width of the narrowest bin with more than a point in it.
double grain(const std::vector<spot::HistogramBin>& bins) {
    double least = std::numeric_limits<double>::infinity();
    for (const spot::HistogramBin& b : bins) {
        if (b.to > b.from) least = std::min(least, b.to - b.from);
    }
    return std::isfinite(least) ? least : 0;
}

/// 1, 2 or 5 times a power of ten, at least `step`.
double round_step(double step) {
    const double power = std::pow(10, std::floor(std::log10(step)));
    for (const double factor : {1.0, 2.0, 5.0}) {
        if (factor * power >= step * (1 - 1e-12)) return factor * power;
    }
    return 10 * power;
}

}  // namespace

std::string bar(double share, std::size_t width) {
    static constexpr std::array<const char*, 8> kEighths = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
    const double cells = std::clamp(share, 0.0, 1.0) * static_cast<double>(width);
    const auto eighths = static_cast<std::size_t>(std::lround(cells * 8));
    std::string out;
    for (std::size_t i = 0; i < eighths / 8; ++i) out += "█";
    return out + kEighths[eighths % 8];
}

std::vector<spot::HistogramBin> coarse_bins(const std::vector<spot::HistogramBin>& fine, int rows) {
    double total = 0;
    for (const spot::HistogramBin& b : fine) total += static_cast<double>(b.count);
    if (total <= 0 || rows < 1) return {};
    const double low = quantile(fine, total, 0.001);
    const double high = quantile(fine, total, 0.99);
    // Two rows may be cut by the round edges, one is for what lies beyond.
    // No row is narrower than what was counted in: its runs would be made up.
    const double step = high > low ? round_step(std::max({(high - low) / std::max(1, rows - 3),
                                                          grain(fine), kFinest * low}))
                                   : 0;
    if (step <= 0) return {{low, low, static_cast<std::uint64_t>(total)}};
    const double first = std::floor(low / step);
    const int count = std::max(1, static_cast<int>(std::ceil(high / step) - first));
    std::vector<spot::HistogramBin> out;
    for (int i = 0; i < count; ++i) out.push_back({(first + i) * step, (first + i + 1) * step, 0});
    out.push_back({(first + count) * step, std::numeric_limits<double>::infinity(), 0});
    // Rounding the running sum, not each row, keeps the number of runs.
    std::uint64_t before = 0;
    for (spot::HistogramBin& row : out) {
        const auto below = static_cast<std::uint64_t>(std::llround(runs_below(fine, row.to)));
        row.count = below - before;
        before = below;
    }
    if (out.back().count == 0) out.pop_back();
    return out;
}

std::string to_ascii(std::string_view text) {
    static constexpr std::array<std::pair<std::string_view, std::string_view>, 16> kSpelled = {
        {{"█", "#"},
         {"▉", "#"},
         {"▊", "#"},
         {"▋", "#"},
         {"▌", "="},
         {"▍", "-"},
         {"▎", "-"},
         {"▏", "."},
         {"±", "+-"},
         {"×", "x"},
         {"·", "-"},
         {"…", "..."},
         {"–", "-"},
         {"é", "e"},
         {"≥", ">="},
         {"≤", "<="}}};
    std::string out;
    for (std::size_t i = 0; i < text.size();) {
        const auto c = static_cast<unsigned char>(text[i]);
        if (c < 0x80) {
            out += text[i++];
            continue;
        }
        std::size_t length = 1;
        while (i + length < text.size() &&
               (static_cast<unsigned char>(text[i + length]) & 0xC0U) == 0x80U) {
            ++length;
        }
        const std::string_view sign = text.substr(i, length);
        const auto known = std::find_if(kSpelled.begin(), kSpelled.end(),
                                        [&](const auto& p) { return p.first == sign; });
        out += known == kSpelled.end() ? "?" : known->second;
        i += length;
    }
    return out;
}

}  // namespace trainyard::cli
