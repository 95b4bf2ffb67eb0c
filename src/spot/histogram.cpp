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
    if (count() == 0) return {};
    if (least_ == most_) return {{least_, most_, count()}};
    const double width = (most_ - least_) / bins;
    std::vector<HistogramBin> out(static_cast<std::size_t>(bins));
    for (std::size_t i = 0; i < out.size(); ++i) {
        out[i].from = least_ + width * static_cast<double>(i);
        out[i].to = least_ + width * static_cast<double>(i + 1);
    }
    for (std::size_t i = 0; i < counts_.size(); ++i) {
        if (counts_[i] == 0) continue;
        const double middle = std::clamp((edge(i) + edge(i + 1)) / 2, least_, most_);
        const auto bin = static_cast<std::size_t>((middle - least_) / width);
        out[std::min(bin, out.size() - 1)].count += counts_[i];
    }
    return out;
}

}  // namespace trainyard::spot
