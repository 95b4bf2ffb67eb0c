#include "trainyard/plan/offer.hpp"

#include <algorithm>
#include <cmath>

#include "spot_price.hpp"
#include "trainyard/base/contract.hpp"
#include "trainyard/base/text.hpp"
#include "trainyard/spot/fit.hpp"

namespace trainyard::plan {

using catalog::PurchaseType;

std::string_view to_string(Purchase p) {
    switch (p) {
        case Purchase::on_demand:
            return "on demand";
        case Purchase::spot:
            return "spot";
        case Purchase::capacity_block:
            return "Capacity Block";
        case Purchase::mixed:
            return "mixed";
        case Purchase::commitment_1y:
            return "1-year commitment";
        case Purchase::commitment_3y:
            return "3-year commitment";
        case Purchase::owned:
            return "your own";
    }
    return "?";
}

bool is_guaranteed(Purchase p) { return p != Purchase::spot && p != Purchase::mixed; }

std::vector<std::string> regions_of(const workload::Job& job) {
    if (!job.regions.empty()) return job.regions;
    return {"us-east-1", "us-east-2", "us-west-2"};
}

Seconds startup_time(const Candidate& c, const DataNeeds& needs, const Assumptions& a) {
    Seconds t = a.seconds("startup.boot") + a.seconds("startup.image_pull") +
                a.seconds("startup.framework");
    t += 2 * needs.final_weights / (a.number("startup.load_gb_per_s") * kGBPerSecond * c.nodes);
    const bool neuron = c.accelerator->vendor == "AWS";
    if (neuron) t += a.seconds("startup.neuron_compile");
    return t;
}

namespace {

/// Edges of the interruption rate of one instance, per hour.
struct Hazard {
    double low = 0, mid = 0, high = 0;
};

Hazard hazard_of(double low_month, double high_month) {
    const auto per_hour = [](double p) {
        return -std::log1p(-std::min(p, 0.95)) / (kMonth / kHour);
    };
    return {per_hour(low_month), per_hour((low_month + high_month) / 2), per_hour(high_month)};
}

/// Without capacity after a loss: the mean down time of the process that played offers and runs
/// have (run_spec.cpp). It does not depend on the band.
Seconds mean_wait() {
    static const Seconds wait = spot::process_from_band(0.05, 0.10, "any").down.mean();
    return wait;
}

/// One way the run can go: the length of the training and how often it is interrupted.
struct Course {
    Seconds training;  ///< billed: steps, saves, repeated work
    Seconds startup;   ///< billed: before the first step
    Seconds restarts;  ///< billed: after interruptions
    Seconds wall;
    double interruptions = 0;
    double saves = 0;
};

/// Everything about one offer except its bill.
struct Terms {
    Purchase purchase = Purchase::on_demand;
    std::string region;
    std::vector<RateLine> lines;
    int spot_nodes = 0;
    Hazard spot;            ///< per instance
    double spot_low = 1;    ///< price in the cheapest zone / expected
    double spot_high = 1;   ///< the same of the dearest
    Seconds window;         ///< Capacity Block: usable time; 0 = no end
    UsdPerSecond overflow;  ///< price of going on after the window, all nodes
};

class Maker {
  public:
    Maker(const Candidate& c, const Request& request, const Work& work, std::string service,
          const catalog::Catalog& catalog, const Assumptions& a)
        : c_(c),
          request_(request),
          service_(std::move(service)),
          catalog_(catalog),
          a_(a),
          needs_(data_needs(request.job, work, c, a)),
          startup_(startup_time(c, needs_, a)) {}

    std::vector<Offer> all() {
        std::vector<Offer> out;
        const auto keep = [&out](std::optional<Offer> o) {
            if (o) out.push_back(std::move(*o));
        };
        keep(owned());
        keep(cheapest([this](const std::string& r) { return on_demand(r); }));
        keep(cheapest([this](const std::string& r) { return spot(r); }));
        keep(cheapest([this](const std::string& r) { return block(r); }));
        keep(cheapest([this](const std::string& r) { return mixed(r); }));
        keep(cheapest([this](const std::string& r) { return commitment(r, 1); }));
        keep(cheapest([this](const std::string& r) { return commitment(r, 3); }));
        return out;
    }

  private:
    template <typename F>
    std::optional<Offer> cheapest(F make) {
        std::optional<Offer> best;
        for (const std::string& region : regions_of(request_.job)) {
            std::optional<Offer> o = make(region);
            if (o && (!best || o->cost.expected < best->cost.expected)) best = std::move(o);
        }
        return best;
    }

    bool spot_allowed() const {
        const workload::Job& j = request_.job;
        return j.spot == workload::SpotPolicy::allowed && j.resume != workload::Resume::none &&
               !j.mission_critical;
    }
    bool independent() const { return request_.job.copies > 1; }

    std::optional<catalog::Price> price(PurchaseType p, const std::string& region) const {
        return catalog_.price(c_.instance->type, p, region);
    }

    RateLine line(const catalog::Price& p, std::string label, int nodes) const {
        return {std::move(label), nodes, p.rate, p.provenance, {}};
    }

    /// Machines the user has: billed at the user's own rate, and nothing else.
    std::optional<Offer> owned() {
        const auto& have = request_.have;
        if (!have || have->instance != c_.instance->type || c_.nodes > have->nodes)
            return std::nullopt;
        Terms t;
        t.purchase = Purchase::owned;
        t.region = regions_of(request_.job).front();
        const char* source = have->rate > UsdPerSecond{} ? "--have-price" : "--have: paid already";
        t.lines = {{"your own",
                    c_.nodes,
                    have->rate,
                    {source, request_.today, catalog::Status::assumed},
                    {}}};
        return finish(t);
    }

    std::optional<Offer> on_demand(const std::string& region) {
        const auto p = price(PurchaseType::on_demand, region);
        if (!p) return std::nullopt;
        Terms t;
        t.region = region;
        t.lines = {line(*p, "on demand", c_.nodes)};
        return finish(t);
    }

    std::optional<Hazard> band(const std::string& region, RunRisk& risk) const {
        const auto b = catalog_.interruption(c_.instance->type, region);
        double low = 0.20;
        double high = a_.number("spot.top_band_high");
        if (b) {
            low = b->low_per_month;
            high = b->high_per_month > low && b->high_per_month < 0.5 ? b->high_per_month : high;
            risk.band_as_of = b->provenance.as_of;
        }
        risk.band_low = low;
        risk.band_high = high;
        return hazard_of(low, high);
    }

    std::optional<Offer> spot(const std::string& region) {
        if (!spot_allowed()) return std::nullopt;
        const auto p = spot_price(catalog_, c_.instance->type, region);
        if (!p) return std::nullopt;
        Terms t;
        t.purchase = Purchase::spot;
        t.region = region;
        t.lines = {line(p->expected, "spot", c_.nodes)};
        t.spot_low = p->low;
        t.spot_high = p->high;
        t.spot_nodes = c_.nodes;
        RunRisk risk;
        t.spot = *band(region, risk);
        return finish(t, risk);
    }

    std::optional<Offer> block(const std::string& region) {
        if (service_ == "SageMaker" || c_.nodes > a_.number("block.max_instances"))
            return std::nullopt;
        const auto p = price(PurchaseType::capacity_block, region);
        if (!p) return std::nullopt;
        Terms t;
        t.purchase = Purchase::capacity_block;
        t.region = region;
        // Booked for the expected time and a margin; what runs over continues on demand, if that is
        // sold at all.
        const auto firm = price(PurchaseType::on_demand, region);
        const Course needed = course(firm ? 1 + a_.number("block.margin") : c_.band.high, 1, t);
        const auto days = plan::block_days(needed.wall, a_);
        if (!days) return std::nullopt;
        t.window = *days * kDay - a_.seconds("block.ends_early");
        if (firm) t.overflow = static_cast<double>(c_.nodes) * firm->rate;
        RateLine l = line(*p, "Block of " + std::to_string(*days) + (*days == 1 ? " day" : " days"),
                          c_.nodes);
        l.upfront = static_cast<double>(c_.nodes * *days) * (p->rate * kDay);
        t.lines = {l};
        auto o = finish(t);
        o.block_days = days;
        return o;
    }

    /// Base on the cheapest guaranteed capacity, the rest on spot.
    std::optional<Offer> mixed(const std::string& region) {
        if (!spot_allowed() || c_.nodes < 2) return std::nullopt;
        const auto cheap = spot_price(catalog_, c_.instance->type, region);
        const auto firm = price(PurchaseType::on_demand, region);
        const auto prepaid = price(PurchaseType::capacity_block, region);
        if (!cheap || (!firm && !prepaid)) return std::nullopt;
        Terms t;
        t.purchase = Purchase::mixed;
        t.region = region;
        const int base =
            std::clamp(static_cast<int>(std::lround(c_.nodes * a_.number("spot.base_share"))), 1,
                       c_.nodes - 1);
        t.spot_nodes = c_.nodes - base;
        RunRisk risk;
        t.spot = *band(region, risk);
        RateLine base_line;
        const auto days =
            plan::block_days((1 + a_.number("block.margin")) * course(1, 1, t).wall, a_);
        const bool by_block =
            prepaid && days && base <= a_.number("block.max_instances") && service_ != "SageMaker";
        if (!by_block && !firm) return std::nullopt;
        if (by_block) {
            base_line = line(*prepaid, "Block of " + std::to_string(*days) + " days", base);
            base_line.upfront = static_cast<double>(base * *days) * (prepaid->rate * kDay);
        } else {
            base_line = line(*firm, "on demand", base);
        }
        t.lines = {base_line, line(cheap->expected, "spot", t.spot_nodes)};
        t.spot_low = cheap->low;
        t.spot_high = cheap->high;
        auto o = finish(t, risk);
        if (by_block) o.block_days = days;
        o.base_nodes = base;
        o.note = std::to_string(base) + (by_block ? " block + " : " on demand + ") +
                 std::to_string(t.spot_nodes) + " spot";
        return o;
    }

    std::optional<catalog::Price> committed(int years, const std::string& region) const {
        const auto a =
            price(years == 1 ? PurchaseType::reserved_1y : PurchaseType::reserved_3y, region);
        const auto b = price(
            years == 1 ? PurchaseType::savings_plan_1y : PurchaseType::savings_plan_3y, region);
        if (a && b) return a->rate < b->rate ? a : b;
        return a ? a : b;
    }

    std::optional<Offer> commitment(const std::string& region, int years) {
        const auto p = committed(years, region);
        const auto firm = price(PurchaseType::on_demand, region);
        if (!p || !firm || service_ == "SageMaker") return std::nullopt;
        Terms t;
        t.purchase = years == 1 ? Purchase::commitment_1y : Purchase::commitment_3y;
        t.region = region;
        const std::string term = std::to_string(years) + (years == 1 ? " year" : " years");
        RateLine l = line(*p, term + " committed", c_.nodes);
        const Seconds length = years * kYear;
        l.upfront = static_cast<double>(c_.nodes) * (p->rate * length);
        t.lines = {l};
        auto o = finish(t);
        if (o.wall.expected > length) return std::nullopt;
        Commitment k;
        k.years = years;
        k.total = to_cents(l.upfront);
        k.break_even = p->rate / firm->rate;
        k.amortised = to_cents(static_cast<double>(c_.nodes) * (p->rate * o.wall.expected));
        o.commitment = k;
        return o;
    }

    Seconds mean_between(double edge, const Terms& t) const {
        // edge 0: low hazard, 1: middle, 2: upper edge of the band.
        const double spot = edge < 0.5 ? t.spot.low : (edge < 1.5 ? t.spot.mid : t.spot.high);
        const double gang = independent() ? std::min(1, t.spot_nodes) : t.spot_nodes;
        const double devices =
            independent() ? c_.instance->accelerators : c_.nodes * c_.instance->accelerators;
        const double per_hour = gang * spot + devices / a_.number("failure.mtbf_accelerator_hours");
        return kHour / per_hour;
    }

    Seconds save_time() const {
        const double writers = independent() ? 1.0 / std::max(1, c_.jobs_per_node) : c_.nodes;
        return needs_.checkpoint / (a_.number("checkpoint.gb_per_s_node") * kGBPerSecond * writers);
    }

    Seconds interval(Seconds between) const {
        const Seconds best = checkpoint_interval(save_time(), between);
        const Seconds longest = a_.seconds("checkpoint.max_interval");
        return std::max(save_time(), std::min(best, longest));
    }

    Course course(double stretch, double edge, const Terms& t) const {
        Course k;
        const Seconds pure = stretch * c_.training_time();
        const Seconds between = mean_between(edge, t);
        const Seconds every = std::max(interval(between), 1 * kSecond);
        k.saves = std::max(1.0, std::floor(pure / every));
        const Seconds with_saves = pure + k.saves * save_time();
        k.interruptions = with_saves / between;
        const Seconds restart = a_.seconds("startup.restart");
        k.training = with_saves + k.interruptions * (0.5 * every);
        k.startup = startup_;
        k.restarts = k.interruptions * restart;
        Seconds wait;
        if (t.spot_nodes > 0) {
            const double hazard = edge < 0.5 ? t.spot.low : (edge < 1.5 ? t.spot.mid : t.spot.high);
            const double gang = independent() ? 1 : t.spot_nodes;
            const double losses = gang * hazard * (with_saves / kHour);
            const bool elastic = request_.job.resume == workload::Resume::elastic && c_.nodes > 1;
            const double stopped = elastic ? 1.0 / c_.nodes : 1.0;
            wait = (losses * stopped + (edge > 1.5 ? 1.0 : 0.0)) * mean_wait();
        }
        k.wall = k.training + k.startup + k.restarts + wait;
        return k;
    }

    BillInput input(const Terms& t, const Course& k) const {
        BillInput in;
        in.candidate = &c_;
        in.needs = &needs_;
        in.region = t.region;
        in.service = service_;
        in.lines = t.lines;
        in.only_compute = t.purchase == Purchase::owned;
        in.training = k.training;
        in.startup = k.startup;
        in.restarts = k.restarts;
        in.wall = k.wall;
        in.runs = std::max(1, request_.job.copies);
        in.starts = 1 + static_cast<int>(std::lround(k.interruptions));
        in.checkpoints_written = static_cast<int>(std::min(k.saves, 1e7)) *
                                 (independent() ? std::max(1, c_.jobs_per_node * c_.nodes) : 1);
        return in;
    }

    /// The same terms in another zone of the region.
    static Terms at_spot(Terms t, double factor) {
        for (RateLine& l : t.lines) {
            if (l.label == "spot") l.rate = factor * l.rate;
        }
        return t;
    }

    Offer finish(const Terms& t, RunRisk risk = {}) const {
        Offer o;
        o.purchase = t.purchase;
        o.region = t.region;
        o.rate = t.lines.front().rate;
        o.rate_source = t.lines.front().source;
        for (const RateLine& l : t.lines) {
            const auto age = catalog::age_in_days(l.source.as_of, request_.today);
            if (age) o.price_age_days = std::max(o.price_age_days, *age);
            if (l.label != "spot") continue;
            o.spot_source = l.source;
            o.spot_age_days = age.value_or(-1);
            o.spot_stale = o.spot_age_days > a_.number("price.stale");
        }
        o.stale = o.price_age_days > a_.number("price.stale");
        const Course low = course(c_.band.low, 0, t);
        const Course mid = course(1, 1, t);
        const Course high = course(c_.band.high, 2, t);
        o.wall = {low.wall, mid.wall, high.wall};
        o.bill = make_bill(input(t, mid), catalog_, a_);
        o.cost = {make_bill(input(at_spot(t, t.spot_low), low), catalog_, a_).total(),
                  o.bill.total(),
                  make_bill(input(at_spot(t, t.spot_high), high), catalog_, a_).total()};
        if (t.window > Seconds{} && high.wall > t.window) {
            o.cost.high = o.cost.high + to_cents((high.wall - t.window) * t.overflow);
        }
        o.needs = needs_;
        o.risk = std::move(risk);
        o.risk.interruptions = mid.interruptions;
        o.risk.interruptions_high = high.interruptions;
        o.risk.mean_between = mean_between(1, t);
        o.risk.save = save_time();
        o.risk.interval = interval(o.risk.mean_between);
        o.risk.interval_capped = checkpoint_interval(save_time(), o.risk.mean_between) >
                                 a_.seconds("checkpoint.max_interval");
        o.risk.lost_per_interruption = 0.5 * o.risk.interval + a_.seconds("startup.restart");
        if (t.spot_nodes > 0) o.risk.wait_per_interruption = mean_wait();
        return o;
    }

    const Candidate& c_;
    const Request& request_;
    std::string service_;
    const catalog::Catalog& catalog_;
    const Assumptions& a_;
    DataNeeds needs_;
    Seconds startup_;
};

}  // namespace

std::vector<Offer> offers(const Candidate& c, const Request& request, const Work& work,
                          const std::string& service, const catalog::Catalog& catalog,
                          const Assumptions& a) {
    return Maker(c, request, work, service, catalog, a).all();
}

}  // namespace trainyard::plan
