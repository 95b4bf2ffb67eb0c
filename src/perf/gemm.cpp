// A GEMM is cut into output tiles; each multiprocessor works on one tile at a time, so the last,
// partly filled wave costs as much as a full one. A tile's k loop pays a fixed prologue and
// epilogue. Libraries pick the best tile of a short list and split k when there are fewer tiles
// than multiprocessors. The bandwidth roof covers thin products. Sources: NVIDIA "Matrix
// Multiplication Background User's Guide" (tile and wave quantisation); docs/model/gemm.md.

#include "gemm.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace trainyard::perf {

namespace {

struct Tile {
    double m, n, efficiency;
};

/// Time of all waves in seconds, not counting launch.
double tiled_seconds(const Device& d, const Gemm& g, const Tile& t, double k_split) {
    const GlobalConstants& c = *d.constants;
    const double tiles = std::ceil(g.m / t.m) * std::ceil(g.n / t.n) * g.batch * k_split;
    const double rate = (d.matmul_rate / (kFlop / kSecond)) / d.multiprocessors * t.efficiency;
    const double tile_seconds = 2 * t.m * t.n * (g.k / k_split + d.arch->k_prologue) / rate;
    const double waves = tiles / d.multiprocessors;
    const double q = c.wave_quantisation;
    return tile_seconds * (q * std::ceil(waves) + (1 - q) * std::max(1.0, waves));
}

}  // namespace

Seconds gemm_time(const Device& d, const Gemm& g) {
    const GlobalConstants& c = *d.constants;
    const std::array<Tile, 6> tiles = {{{128, 256, 1.0},
                                        {256, 128, 1.0},
                                        {128, 128, c.tile_128},
                                        {128, 64, c.tile_64},
                                        {64, 128, c.tile_64},
                                        {64, 64, c.tile_32}}};
    double best = 1e30;
    for (const Tile& t : tiles) {
        best = std::min(best, tiled_seconds(d, g, t, 1));
        const double count = std::ceil(g.m / t.m) * std::ceil(g.n / t.n) * g.batch;
        if (count * 2 <= d.multiprocessors && g.k >= 1024) {
            const double split =
                std::min({std::floor(d.multiprocessors / count), std::floor(g.k / 512), 16.0});
            if (split > 1) {
                const double reduce =
                    8.0 * g.m * g.n * g.batch * split / (d.memory_rate / (kByte / kSecond));
                best = std::min(best, tiled_seconds(d, g, t, split) + reduce);
            }
        }
    }
    const double weight_bytes = d.fp8 ? 1.0 : d.element_bytes;
    const double bytes =
        g.batch * (weight_bytes * (g.m * g.k + g.k * g.n) + d.element_bytes * g.m * g.n);
    const double streaming = bytes / (d.memory_rate / (kByte / kSecond));
    return std::max(best, streaming) * kSecond + d.kernel_gap;
}

LinearTime linear_time(const Device& d, double tokens, double in, double out, double batch) {
    LinearTime t;
    t.forward = gemm_time(d, {tokens, out, in, batch});
    t.input_grad = gemm_time(d, {tokens, in, out, batch});
    t.weight_grad = gemm_time(d, {in, out, tokens, batch});
    return t;
}

}  // namespace trainyard::perf
