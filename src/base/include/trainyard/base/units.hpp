#pragma once
// Physical and money units as types.
//
// A number enters by multiplying with a named unit and leaves by dividing by one:
//     Bytes memory = 80 * kGiB;      double gib = memory / kGiB;
//     Seconds t = memory / (400 * kGbitPerSecond);
// Dimension follows from arithmetic; Bytes + Seconds does not compile. There is no default unit and
// no implicit conversion from or to double. GB (10^9) and GiB (2^30) are different words.
// Representation is one double in SI base units (byte, second, FLOP, US dollar, token).

#include <compare>

namespace trainyard {

struct Dimension {
    int byte = 0;
    int second = 0;
    int flop = 0;
    int usd = 0;
    int token = 0;
    constexpr bool operator==(const Dimension&) const = default;
};

constexpr Dimension operator+(Dimension a, Dimension b) {
    return {a.byte + b.byte, a.second + b.second, a.flop + b.flop, a.usd + b.usd,
            a.token + b.token};
}
constexpr Dimension operator-(Dimension a, Dimension b) {
    return {a.byte - b.byte, a.second - b.second, a.flop - b.flop, a.usd - b.usd,
            a.token - b.token};
}

template <Dimension D>
class Quantity {
  public:
    constexpr Quantity() = default;
    /// Named escape hatch for the unit constants below; user code multiplies by a unit instead.
    static constexpr Quantity from_base(double value) {
        Quantity q;
        q.value_ = value;
        return q;
    }
    constexpr double base() const { return value_; }

    constexpr Quantity& operator+=(Quantity o) {
        value_ += o.value_;
        return *this;
    }
    constexpr Quantity& operator-=(Quantity o) {
        value_ -= o.value_;
        return *this;
    }
    constexpr Quantity& operator*=(double s) {
        value_ *= s;
        return *this;
    }
    friend constexpr Quantity operator+(Quantity a, Quantity b) {
        return from_base(a.value_ + b.value_);
    }
    friend constexpr Quantity operator-(Quantity a, Quantity b) {
        return from_base(a.value_ - b.value_);
    }
    friend constexpr Quantity operator-(Quantity a) { return from_base(-a.value_); }
    friend constexpr Quantity operator*(Quantity a, double s) { return from_base(a.value_ * s); }
    friend constexpr Quantity operator*(double s, Quantity a) { return from_base(a.value_ * s); }
    friend constexpr Quantity operator/(Quantity a, double s) { return from_base(a.value_ / s); }
    friend constexpr auto operator<=>(Quantity a, Quantity b) { return a.value_ <=> b.value_; }
    friend constexpr bool operator==(Quantity a, Quantity b) { return a.value_ == b.value_; }

  private:
    double value_ = 0;
};

/// Same dimension divides to a plain ratio; otherwise dimensions subtract.
template <Dimension A, Dimension B>
constexpr auto operator/(Quantity<A> a, Quantity<B> b) {
    if constexpr (A == B) {
        return a.base() / b.base();
    } else {
        return Quantity<A - B>::from_base(a.base() / b.base());
    }
}

template <Dimension A, Dimension B>
constexpr auto operator*(Quantity<A> a, Quantity<B> b) {
    if constexpr (A + B == Dimension{}) {
        return a.base() * b.base();
    } else {
        return Quantity<A + B>::from_base(a.base() * b.base());
    }
}

using Bytes = Quantity<Dimension{.byte = 1}>;
using Seconds = Quantity<Dimension{.second = 1}>;
using Flop = Quantity<Dimension{.flop = 1}>;
using Usd = Quantity<Dimension{.usd = 1}>;
using Tokens = Quantity<Dimension{.token = 1}>;
using BytesPerSecond = Quantity<Dimension{.byte = 1, .second = -1}>;
using FlopPerSecond = Quantity<Dimension{.second = -1, .flop = 1}>;
using UsdPerSecond = Quantity<Dimension{.second = -1, .usd = 1}>;
using TokensPerSecond = Quantity<Dimension{.second = -1, .token = 1}>;
using UsdPerByte = Quantity<Dimension{.byte = -1, .usd = 1}>;
using UsdPerByteSecond = Quantity<Dimension{.byte = -1, .second = -1, .usd = 1}>;

inline constexpr Bytes kByte = Bytes::from_base(1);
inline constexpr Bytes kKiB = Bytes::from_base(1024.0);
inline constexpr Bytes kMiB = Bytes::from_base(1024.0 * 1024.0);
inline constexpr Bytes kGiB = Bytes::from_base(1024.0 * 1024.0 * 1024.0);
inline constexpr Bytes kTiB = Bytes::from_base(1024.0 * 1024.0 * 1024.0 * 1024.0);
inline constexpr Bytes kMB = Bytes::from_base(1e6);
inline constexpr Bytes kGB = Bytes::from_base(1e9);
inline constexpr Bytes kTB = Bytes::from_base(1e12);
inline constexpr Seconds kSecond = Seconds::from_base(1);
inline constexpr Seconds kMicrosecond = Seconds::from_base(1e-6);
inline constexpr Seconds kMillisecond = Seconds::from_base(1e-3);
inline constexpr Seconds kMinute = Seconds::from_base(60);
inline constexpr Seconds kHour = Seconds::from_base(3600);
inline constexpr Seconds kDay = Seconds::from_base(86400);
/// AWS bills monthly storage on 730 hours (https://aws.amazon.com/ec2/pricing, "730 hours in a
/// month").
inline constexpr Seconds kMonth = Seconds::from_base(730.0 * 3600);
inline constexpr Seconds kYear = Seconds::from_base(8760.0 * 3600);
inline constexpr Flop kFlop = Flop::from_base(1);
inline constexpr Flop kTFlop = Flop::from_base(1e12);
inline constexpr Usd kUsd = Usd::from_base(1);
inline constexpr Tokens kToken = Tokens::from_base(1);
inline constexpr BytesPerSecond kGBPerSecond = kGB / kSecond;
inline constexpr BytesPerSecond kGbitPerSecond = BytesPerSecond::from_base(1e9 / 8);
inline constexpr FlopPerSecond kTFlopPerSecond = kTFlop / kSecond;
inline constexpr UsdPerSecond kUsdPerHour = kUsd / kHour;
inline constexpr TokensPerSecond kTokensPerSecond = kToken / kSecond;

}  // namespace trainyard
