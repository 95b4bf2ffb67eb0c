#pragma once
// Seeded random numbers that are the same on every machine and with every library: own generator
// (xoshiro256++, Blackman and Vigna 2019, doi 10.1145/3460772; seeded by splitmix64) and own
// distributions. A stream is a function of (seed, run), so the order in which threads take runs
// never changes a result.

#include <array>
#include <cmath>
#include <cstdint>

namespace trainyard {

class Random {
  public:
    Random(std::uint64_t seed, std::uint64_t run) {
        std::uint64_t x = mix(seed) ^ mix(run + 0x632be59bd9b4e019ULL);
        for (std::uint64_t& word : state_) {
            x += 0x9e3779b97f4a7c15ULL;
            word = mix(x);
        }
    }

    std::uint64_t next() {
        const std::uint64_t result = rotate(state_[0] + state_[3], 23) + state_[0];
        const std::uint64_t t = state_[1] << 17U;
        state_[2] ^= state_[0];
        state_[3] ^= state_[1];
        state_[1] ^= state_[2];
        state_[0] ^= state_[3];
        state_[2] ^= t;
        state_[3] = rotate(state_[3], 45);
        return result;
    }

    /// In (0, 1]: safe to take the logarithm of.
    double uniform() { return (static_cast<double>(next() >> 11U) + 1.0) * 0x1.0p-53; }
    /// In [0, n); n below 2^32.
    std::uint64_t below(std::uint32_t n) { return ((next() >> 32U) * n) >> 32U; }
    bool chance(double p) { return uniform() <= p; }
    /// Mean 1.
    double exponential() { return -std::log(uniform()); }
    /// Survival exp(-(x/scale)^shape); shape < 1: the hazard falls with age.
    double weibull(double scale, double shape) {
        return scale * std::pow(exponential(), 1.0 / shape);
    }
    /// Standard normal (Box and Muller 1958); one of the pair is dropped so that no state hides.
    double normal() {
        constexpr double kTwoPi = 6.283185307179586476925;
        const double radius = std::sqrt(2.0 * exponential());
        return radius * std::cos(kTwoPi * uniform());
    }

    static std::uint64_t mix(std::uint64_t z) {
        z += 0x9e3779b97f4a7c15ULL;
        z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9ULL;
        z = (z ^ (z >> 27U)) * 0x94d049bb133111ebULL;
        return z ^ (z >> 31U);
    }

  private:
    static std::uint64_t rotate(std::uint64_t x, unsigned k) { return (x << k) | (x >> (64U - k)); }
    std::array<std::uint64_t, 4> state_{};
};

}  // namespace trainyard
