#pragma once
// Bars and histograms of plain characters.

#include <string>
#include <string_view>
#include <vector>

#include "trainyard/spot/simulate.hpp"

namespace trainyard::cli {

/// A bar of up to `width` characters in eighths; share is cut to 0..1.
std::string bar(double share, std::size_t width);

/// Fine bins put together into at most `rows` rows of a round width. The last percent of the runs
/// may share an open row (`to` is infinite). Empty without runs.
std::vector<spot::HistogramBin> coarse_bins(const std::vector<spot::HistogramBin>& fine, int rows);

/// For terminals without UTF-8: blocks become "#", other signs their nearest ASCII spelling.
std::string to_ascii(std::string_view text);

}  // namespace trainyard::cli
