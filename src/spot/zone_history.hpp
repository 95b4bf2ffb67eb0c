#pragma once
// What SkyNomad knows of one zone: the lives of its capacity seen so far and how long the present
// one will go on. Plain doubles: hours.

#include <vector>

namespace trainyard::spot {

class ZoneHistory {
  public:
    void begin();
    /// Capacity is there or not at `now`; `age` of the state where it is known, else negative.
    void see(double now, bool available, double age);

    /// Expected time that capacity which is there now will stay: Nelson and Aalen's cumulative
    /// hazard of the lives seen, given the age, times how much worse the recent past was.
    double expected_life() const;

  private:
    struct Life {
        double hours = 0;
        double end = 0;
    };
    struct Exposure {
        double risk = 0;
        int failures = 0;
    };
    double cumulative_hazard(double age) const;
    void add_exposure(double risk, int failures);

    std::vector<Life> lives_;  ///< ended ones, sorted by length; the newest of at most kLives
    std::vector<Exposure> recent_;
    double volatility_ = 1;
    double up_since_ = 0;
    double age_ = 0;
    bool available_ = false;
};

}  // namespace trainyard::spot
