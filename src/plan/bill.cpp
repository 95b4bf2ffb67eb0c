#include "trainyard/plan/bill.hpp"

#include <algorithm>
#include <cmath>

#include "trainyard/base/text.hpp"

namespace trainyard::plan {
namespace {

std::string hours(Seconds t) { return format_fixed(t / kHour, t < 10 * kHour ? 2 : 1) + " h"; }
std::string gigabytes(Bytes b) { return format_fixed(b / kGB, b < 10 * kGB ? 2 : 0) + " GB"; }
/// A third and fourth digit only where two would not give the product: $0.357/h.
std::string per_hour(UsdPerSecond r) {
    const double usd = r / kUsdPerHour;
    int digits = 2;
    while (digits < 4 &&
           std::fabs(std::round(usd * std::pow(10, digits)) / std::pow(10, digits) - usd) > 1e-6)
        ++digits;
    return "$" + format_fixed(usd, digits) + "/h";
}

/// A service price; where nobody published one for this region, us-east-1's is used and said so.
struct Rate {
    double value = 0;
    catalog::Provenance provenance;
    std::string note;
    bool known = false;
};
Rate service_rate(const catalog::Catalog& catalog, std::string_view key, std::string_view region) {
    for (const std::string_view where :
         {region, std::string_view("any"), std::string_view("us-east-1"),
          std::string_view("us-west-2")}) {
        if (const auto p = catalog.service(key, where)) {
            const bool elsewhere = where != region && where != "any";
            return {p->value, p->provenance,
                    elsewhere ? " (price of " + std::string(where) + ")" : "", true};
        }
    }
    return {};
}

class Builder {
  public:
    Builder(const BillInput& in, const catalog::Catalog& catalog, const Assumptions& a)
        : in_(in), catalog_(catalog), a_(a) {}

    Bill build() {
        compute();
        if (in_.only_compute) return std::move(bill_);
        service();
        disks();
        dataset();
        checkpoints();
        network();
        return std::move(bill_);
    }

  private:
    void add(std::string name, std::string detail, Usd amount, catalog::Provenance p) {
        bill_.items.push_back({std::move(name), std::move(detail), to_cents(amount), std::move(p)});
    }
    void unknown(std::string name, const std::string& what) {
        add(std::move(name), "price of " + what + " unknown: not counted", {},
            {"none", "", catalog::Status::assumed});
    }

    void compute() {
        const catalog::Instance& i = *in_.candidate->instance;
        for (const RateLine& l : in_.lines) {
            const std::string who = std::to_string(l.nodes) + " x " + i.type;
            if (l.upfront > Usd{}) {
                add("compute", who + ", " + l.label + ", " + per_hour(l.rate) + ", paid up front",
                    l.upfront, l.source);
                continue;
            }
            const double n = l.nodes;
            add("compute",
                who + " x " + hours(in_.training) + " x " + per_hour(l.rate) + ", " + l.label,
                n * (l.rate * in_.training), l.source);
            add("start-up", who + " x " + format_duration(in_.startup) + " before the first step",
                n * (l.rate * in_.startup), a_.row("startup.image_pull").provenance);
            if (in_.restarts < 1 * kSecond) continue;
            add("restarts",
                who + " x " + format_duration(in_.restarts) + " after interruptions and failures",
                n * (l.rate * in_.restarts), a_.row("startup.restart").provenance);
        }
    }

    void service() {
        if (in_.service == "SageMaker") {
            const double uplift =
                service_uplift(in_.service, *in_.candidate->instance, catalog_) - 1;
            Usd base;
            for (const BillItem& item : bill_.items) base += to_usd(item.amount);
            add("SageMaker uplift",
                "+" + format_fixed(uplift * 100, 0) + " % on the instance price", uplift * base,
                {"SageMaker price list against EC2 on demand", "2026",
                 catalog::Status::vendor_list});
        } else if (in_.service == "EKS + Karpenter") {
            const Rate r = service_rate(catalog_, "eks.control_plane.hour", in_.region);
            if (!r.known) return unknown("control plane", "the EKS control plane");
            add("control plane", "EKS x " + hours(in_.wall) + r.note,
                r.value * (in_.wall / kHour) * kUsd, r.provenance);
        } else if (in_.service == "ParallelCluster + Slurm") {
            head_node();
        }
    }

    void head_node() {
        for (const char* type : {"c7i.2xlarge", "c6i.2xlarge", "c5.2xlarge"}) {
            for (const std::string_view region :
                 {std::string_view(in_.region), std::string_view("us-east-1")}) {
                const auto p = catalog_.price(type, catalog::PurchaseType::on_demand, region);
                if (!p) continue;
                add("head node",
                    std::string(type) + " x " + hours(in_.wall) + " x " + per_hour(p->rate),
                    p->rate * in_.wall, p->provenance);
                bill_.items.back().instance = type;
                return;
            }
        }
        unknown("head node", "a small head node");
    }

    void disks() {
        const Rate r = service_rate(catalog_, "ebs.gp3.gb_month", in_.region);
        if (!r.known) return unknown("node disks", "gp3");
        const double size = a_.number("storage.root_gb");
        const int nodes = in_.candidate->nodes;
        add("node disks",
            std::to_string(nodes) + " x " + format_fixed(size, 0) + " GB gp3" + r.note,
            nodes * size * r.value * (in_.wall / kMonth) * kUsd, r.provenance);
    }

    void dataset() {
        const Rate r = service_rate(catalog_, "s3.standard.gb_month", in_.region);
        if (!r.known) return unknown("data storage", "S3");
        const Bytes size = in_.needs->dataset;
        const Seconds kept = std::max(in_.wall, 1 * kDay);
        const bool whole_day = in_.wall < kDay;
        add("data storage",
            gigabytes(size) + " in S3 for " +
                (whole_day ? "a whole day, the least counted" : format_duration(kept)) +
                (in_.runs > 1 ? ", one copy for all runs" : "") + r.note,
            size / kGB * r.value * (kept / kMonth) * kUsd, r.provenance);
        lustre();
    }

    void lustre() {
        if (!in_.needs->lustre) return;
        const Rate r = service_rate(catalog_, "fsx.lustre.persistent_125.gb_month", in_.region);
        if (!r.known) return unknown("FSx for Lustre", "FSx for Lustre");
        const double gib = *in_.needs->lustre / kGiB;
        add("FSx for Lustre", format_fixed(gib, 0) + " GiB" + r.note,
            gib * r.value * (in_.wall / kMonth) * kUsd, r.provenance);
    }

    void checkpoints() {
        const Rate storage = service_rate(catalog_, "s3.standard.gb_month", in_.region);
        const Rate put = service_rate(catalog_, "s3.put.per_1000", in_.region);
        if (!storage.known) return;
        // A finished run leaves its final weights, and the next one on its node takes its place.
        const int at_once =
            std::min(in_.runs, in_.candidate->nodes * std::max(1, in_.candidate->jobs_per_node));
        const double keep = a_.number("checkpoint.keep") * at_once;
        const double parts =
            std::ceil(in_.needs->checkpoint / (a_.number("checkpoint.part_bytes") * kMiB));
        const double requests = parts * in_.checkpoints_written;
        const Usd cost =
            keep * (in_.needs->checkpoint / kGB) * storage.value * (in_.wall / kMonth) * kUsd +
            requests / 1000 * put.value * kUsd;
        add("checkpoints",
            format_fixed(keep, 0) + " x " + gigabytes(in_.needs->checkpoint) + " in S3, " +
                format_count(requests) + " PUTs",
            cost, storage.provenance);
    }

    void network() {
        const Candidate& c = *in_.candidate;
        // Instances with several network cards get no public address: a cluster sits in a private
        // subnet.
        const bool is_private = c.nodes > 1;
        const Rate nat = service_rate(catalog_, "nat.hour", in_.region);
        const Rate nat_gb = service_rate(catalog_, "nat.gb", in_.region);
        if (is_private && nat.known) {
            const double pulled = a_.number("startup.image_bytes") * c.nodes * in_.starts;
            add("NAT gateway",
                hours(in_.wall) + " and " + format_fixed(pulled, 0) +
                    " GB of images; S3 by gateway endpoint is free",
                (nat.value * (in_.wall / kHour) + nat_gb.value * pulled) * kUsd, nat.provenance);
        }
        const Rate out = service_rate(catalog_, "transfer.internet.first_10tb.gb", in_.region);
        if (out.known) {
            add("data transfer",
                (in_.runs > 1 ? std::to_string(in_.runs) + " x " : "") +
                    gigabytes(in_.needs->final_weights) + " of final weights to the internet" +
                    out.note,
                in_.runs * out.value * (in_.needs->final_weights / kGB) * kUsd, out.provenance);
        }
    }

    const BillInput& in_;
    const catalog::Catalog& catalog_;
    const Assumptions& a_;
    Bill bill_;
};

}  // namespace

MicroUsd Bill::total() const {
    MicroUsd sum;
    for (const BillItem& i : items) sum = sum + i.amount;
    return sum;
}

MicroUsd Bill::of(std::string_view name) const {
    MicroUsd sum;
    for (const BillItem& i : items) {
        if (i.name == name) sum = sum + i.amount;
    }
    return sum;
}

double service_uplift(std::string_view service, const catalog::Instance& instance,
                      const catalog::Catalog& catalog) {
    if (service != "SageMaker") return 1;
    const bool big = instance.family.substr(0, 1) == "p" || instance.family.substr(0, 3) == "trn";
    const bool xlarge = instance.type.ends_with(".xlarge");
    const char* key =
        big ? "sagemaker.uplift.p" : (xlarge ? "sagemaker.uplift.g_xlarge" : "sagemaker.uplift.g");
    const double listed =
        big ? 1.15 : (xlarge ? 1.40 : 1.25);  // SageMaker us-west-2 price list 2026 / EC2 on demand
    for (const char* region : {"any", "us-west-2", "us-east-1"}) {
        if (const auto p = catalog.service(key, region)) return p->value;
    }
    return listed;
}

Bill make_bill(const BillInput& in, const catalog::Catalog& catalog, const Assumptions& a) {
    return Builder(in, catalog, a).build();
}

}  // namespace trainyard::plan
