#include "histogram.hpp"

#include <numeric>

namespace trainyard::spot {

void Histogram::add(const Histogram& other) {
    for (std::size_t i = 0; i < counts_.size(); ++i) counts_[i] += other.counts_[i];
    least_ = std::min(least_, other.least_);
    most_ = std::max(most_, other.most_);
}

std::uint64_t Histogram::count() const {
    return std::accumulate(counts_.begin(), counts_.end(), std::uint64_t{0});
}

double Histogram::quantile(double p) const {
    const std::uint64_t all = count();
    if (all == 0) return 0;
    const double wanted = p * static_cast<double>(all);
    double before = 0;
    for (std::size_t i = 0; i < counts_.size(); ++i) {
        const auto here = static_cast<double>(counts_[i]);
        if (here == 0 || before + here < wanted) {
            before += here;
            continue;
        }
        const double share = (wanted - before) / here;
        return std::clamp(edge(i) + share * (edge(i + 1) - edge(i)), least_, most_);
    }
    return most_;
}

std::vector<HistogramBin> Histogram::bins(int bins) const {
    const std::uint64_t all = count();
    if (all == 0) return {};
    if (least_ == most_) return {{least_, most_, all}};
    const auto at = [&](double p) { return index(quantile(p)); };
    const std::size_t from = at(kTail);
    const std::size_t to = at(1 - kTail) + 1;  // the edge above it
    const double low = std::max(edge(from), least_);
    const double high = std::min(edge(to), most_);
    // never narrower than what is counted in
    const int middle = std::clamp(bins - 2, 1, static_cast<int>(to - from));
    const double width = (high - low) / middle;
    std::vector<HistogramBin> out;
    out.push_back({least_, low, 0});
    for (int i = 0; i < middle; ++i) out.push_back({low + width * i, low + width * (i + 1), 0});
    out.back().to = high;
    out.push_back({high, most_, 0});
    for (std::size_t i = 0; i < counts_.size(); ++i) {
        if (counts_[i] == 0) continue;
        std::size_t bin = i < from ? 0 : out.size() - 1;
        if (i >= from && i < to) {
            const double centre = std::clamp((edge(i) + edge(i + 1)) / 2, low, high);
            bin = 1 + std::min(static_cast<std::size_t>((centre - low) / width),
                               static_cast<std::size_t>(middle - 1));
        }
        out[bin].count += counts_[i];
    }
    std::erase_if(out, [](const HistogramBin& b) { return b.count == 0; });
    return out;
}

}  // namespace trainyard::spot
