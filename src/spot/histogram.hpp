#pragma once
// Counts of positive values in bins of relative width 1/1024 (as HdrHistogram does): three
// significant digits at any size, the same memory for any number of values. Adding is order-free.

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <vector>

#include "trainyard/spot/simulate.hpp"

namespace trainyard::spot {

class Histogram {
  public:
    Histogram() : counts_(kBins) {}
    void add(double value) {
        ++counts_[index(value)];
        least_ = std::min(least_, value);
        most_ = std::max(most_, value);
    }
    void add(const Histogram& other);
    std::uint64_t count() const;
    /// p in (0, 1); 0 if nothing was added.
    double quantile(double p) const;
    /// At most `bins`, of equal width but for the first and the last, which hold the outermost
    /// kTail of the values at each end. Empty ones are left out.
    std::vector<HistogramBin> bins(int bins) const;

  private:
    static constexpr double kTail = 0.005;
    // The upper 22 bits of a double: exponent and 10 bits of the fraction. From 2^-20 to 2^60.
    static constexpr int kShift = 42;
    static constexpr std::uint64_t kFirst = std::uint64_t{1023 - 20} << 10U;
    static constexpr std::uint64_t kBins = std::uint64_t{80} << 10U;

    static std::size_t index(double value) {
        const std::uint64_t top = std::bit_cast<std::uint64_t>(std::max(value, 0.0)) >> kShift;
        return static_cast<std::size_t>(std::clamp(top, kFirst, kFirst + kBins - 1) - kFirst);
    }
    static double edge(std::size_t i) {
        return i == 0 ? 0.0 : std::bit_cast<double>((kFirst + i) << kShift);
    }

    std::vector<std::uint64_t> counts_;
    double least_ = std::numeric_limits<double>::infinity();
    double most_ = 0;
};

}  // namespace trainyard::spot
