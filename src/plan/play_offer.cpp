#include "play_offer.hpp"

#include <algorithm>
#include <cmath>

#include "spot_price.hpp"
#include "trainyard/spot/fit.hpp"
#include "trainyard/spot/simulate.hpp"

namespace trainyard::plan {
namespace {

/// With more, luck averages out within the run, and the expected value says as much.
constexpr double kMostInterruptions = 100;

/// The parts of a course that the bill distinguishes.
struct Course {
    Seconds training;
    Seconds startup;
    Seconds restarts;
    Seconds wall;
    double interruptions = 0;
};

/// With the interruption rate at one place of the band; nothing if the run cannot be played.
std::optional<spot::Summary> play(spot::RunSpec spec, double per_month, const Assumptions& a) {
    spot::PoolProcess& process = *spec.pools.front().process;
    process = spot::process_from_band(per_month, per_month, process.name, spec.nodes);
    spot::SimulateOptions options;
    options.runs = static_cast<std::uint64_t>(a.number("play.runs"));
    options.threads = 1;
    auto summary = spot::simulate(spec, "spot_only", options);
    if (!summary) return std::nullopt;
    return std::move(*summary);
}

/// Bought time: everything but waiting for capacity.
Course course_of(const spot::Summary& s, Seconds startup) {
    const spot::TimeSplit& t = s.mean_time;
    Course c;
    c.training = t.useful + t.slower + t.lost + t.checkpoint;
    c.startup = startup;
    c.restarts = std::max(Seconds{}, t.restart + t.reshard - startup);
    c.wall = t.wall();
    c.interruptions = s.mean_interruptions;
    return c;
}

Course stretched(Course c, double factor) {
    c.training *= factor;
    c.restarts *= factor;
    c.wall *= factor;
    c.interruptions *= factor;
    return c;
}

/// Independent errors of the step time (`band`) and of luck (`luck`), both as factors.
double combined(double band, double luck) {
    const double size = std::hypot(std::log(band), std::log(luck));
    return std::exp(band < 1 ? -size : size);
}

class Biller {
  public:
    Biller(const Option& option, const std::string& service, const catalog::Catalog& catalog,
           const Assumptions& a, Seconds interval)
        : option_(option), service_(service), catalog_(catalog), a_(a), interval_(interval) {}

    Bill bill(const Course& c, double price_factor) const {
        const Offer& o = option_.offer;
        BillInput in;
        in.candidate = &option_.candidate;
        in.needs = &o.needs;
        in.region = o.region;
        in.service = service_;
        in.lines = {{"spot", option_.candidate.nodes, price_factor * o.rate, o.rate_source, {}}};
        in.training = c.training;
        in.startup = c.startup;
        in.restarts = c.restarts;
        in.wall = c.wall;
        in.starts = 1 + static_cast<int>(std::lround(c.interruptions));
        in.checkpoints_written =
            static_cast<int>(std::clamp(c.training / std::max(interval_, 1 * kSecond), 1.0, 1e7));
        return make_bill(in, catalog_, a_);
    }

  private:
    const Option& option_;
    const std::string& service_;
    const catalog::Catalog& catalog_;
    const Assumptions& a_;
    Seconds interval_;
};

}  // namespace

bool can_be_played(const Option& o, const Request& request) {
    return o.offer.purchase == Purchase::spot && o.offer.played == 0 && request.job.copies == 1 &&
           o.offer.risk.interruptions_high <= kMostInterruptions;
}

Offer play_offer(const Option& option, const Request& request, const std::string& service,
                 const catalog::Catalog& catalog, const Assumptions& a) {
    Offer o = option.offer;
    spot::RunSpec spec = make_run(option, request, service, catalog, a, nullptr).spec;
    std::erase_if(spec.pools,
                  [](const spot::Pool& p) { return p.purchase != spot::Purchase::spot; });
    spec.step_time = {};  // combined below
    // The cadence of every other row.
    if (o.risk.interval_capped) {
        spec.checkpoints.cadence = spot::Cadence::fixed;
        spec.checkpoints.interval = o.risk.interval;
    }
    spec.deadline.reset();
    spec.budget.reset();
    const auto mid = play(spec, 0.5 * (o.risk.band_low + o.risk.band_high), a);
    const auto few = play(spec, o.risk.band_low, a);
    const auto many = play(spec, o.risk.band_high, a);
    if (!mid || !few || !many) return o;
    const Course course = course_of(*mid, startup_time(option.candidate, o.needs, a));
    const double mean = course.wall / kHour;
    const perf::ErrorBand& band = option.candidate.band;
    const double low = combined(band.low, std::min(1.0, few->hours.p10 / mean));
    const double high = combined(band.high, std::max(1.0, many->hours.p90 / mean));
    const Biller biller(option, service, catalog, a, mid->interval);
    const auto price = spot_price(catalog, option.candidate.instance->type, o.region);
    o.wall = {low * course.wall, course.wall, high * course.wall};
    o.bill = biller.bill(course, 1);
    o.cost = {biller.bill(stretched(course, low), price ? price->low : 1).total(), o.bill.total(),
              biller.bill(stretched(course, high), price ? price->high : 1).total()};
    o.risk.interruptions = mid->mean_interruptions;
    o.risk.interruptions_high = many->mean_interruptions;
    o.risk.interval = mid->interval;
    o.played = mid->runs;
    return o;
}

}  // namespace trainyard::plan
