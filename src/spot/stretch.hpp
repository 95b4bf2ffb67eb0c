#pragma once
// Stepping without an interruption, in closed form: compute `interval`, save, compute, save … Any
// number of saves costs the same few operations. Plain doubles inside the engine: seconds, and work
// in seconds at full size.

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace trainyard::spot {

/// Longer than any run and short enough that n * interval is exact enough: no saves.
inline constexpr double kNever = 1e15;
/// Part of an interval within which two times are the same: rounding must not lose a save.
inline constexpr double kTie = 1e-9;

/// Of numbers from 0 to 1e18; std::floor is a call where the processor's own is not enabled.
inline double whole(double x) { return static_cast<double>(static_cast<std::int64_t>(x)); }

struct Stretch {
    double start = 0;     ///< first step
    double speed = 1;     ///< work per second of compute
    double interval = 0;  ///< compute between saves
    double blocking = 0;  ///< of one save
    double persist = 0;   ///< from the start of a save until it is safe, at least `blocking`
    double from = 0;      ///< work done at the start
    double saves = 0;     ///< saves in this stretch: strictly before its end
    double end = 0;       ///< work is done, or the cadence is looked at again

    /// Plans saves so that the stretch ends when `work` is left of it, or after `most_saves`.
    void plan(double work, double most_saves) {
        const double compute = work / speed;
        // A save that would fall on the end itself is the final one, which the engine makes.
        saves = std::max(0.0, std::ceil(compute / interval - kTie) - 1);
        end = start + compute + saves * blocking;
        if (saves > most_saves) {
            saves = most_saves;
            end = start + saves * (interval + blocking);
        }
    }

    struct At {
        double compute;    ///< time that made steps
        double blocked;    ///< time that stood still for saves
        double saved;      ///< saves whose blocking part has ended
        double persisted;  ///< saves that are safe
    };
    At at(double now) const {
        const double x = now - start;
        const double cycle = interval + blocking;
        const double n = std::min(whole(x / cycle + kTie), saves);
        const double rest = x - n * cycle;
        const double over = n < saves ? std::max(0.0, rest - interval) : 0.0;
        At a{};
        a.compute = n * interval + (rest - over);
        a.blocked = n * blocking + over;
        a.saved = n;
        a.persisted = std::clamp(whole((x - persist + blocking) / cycle + kTie), 0.0, saves);
        return a;
    }
    double work_after(double saves_done) const { return from + saves_done * interval * speed; }
};

}  // namespace trainyard::spot
