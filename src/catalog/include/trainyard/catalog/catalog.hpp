#pragma once
// The facts about hardware and prices that Trainyard reasons with. Tables live in
// data/catalog/*.csv, are embedded in the binary, and can be replaced (`--catalog DIR`, `--prices
// FILE`). Unknown stays unknown: optional, never 0.

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trainyard/base/result.hpp"
#include "trainyard/base/units.hpp"

namespace trainyard::catalog {

/// Where a number comes from and what kind of number it is. Every printed value carries one.
enum class Status {
    guide_claim,
    vendor_list,
    vendor_measured,
    third_party_measured,
    we_measured,
    modelled,
    assumed
};
std::string_view to_string(Status s);  ///< "vendor_list"
std::optional<Status> parse_status(std::string_view s);
struct Provenance {
    std::string source;
    std::string as_of;  ///< YYYY[-MM[-DD]]
    Status status = Status::vendor_list;
};

enum class Precision { fp32, tf32, fp16, bf16, fp8, fp4 };
inline constexpr int kPrecisionCount = 6;
std::string_view to_string(Precision p);
std::optional<Precision> parse_precision(std::string_view s);

/// How accelerators of one node are joined.
/// nvlink_mesh: point to point without a switch (NVLink, xGMI, RoCE); neuronlink_torus: any torus
/// (NeuronLink, TPU ICI); nvswitch: all to all through a switch inside the node; nvl72: the same
/// over a rack.
enum class LinkKind { none, pcie, nvlink_mesh, nvswitch, neuronlink_torus, nvl72 };
std::string_view to_string(LinkKind k);
std::optional<LinkKind> parse_link_kind(std::string_view s);

/// What the vendor sells it for. A graphics or inference part may train in theory; nobody plans it.
enum class Use { training, inference, graphics };
std::string_view to_string(Use u);
std::optional<Use> parse_use(std::string_view s);

/// One accelerator (a GPU or a Neuron chip, not a core).
struct Accelerator {
    std::string id;  ///< "H100-80", the name used in data files: short family + memory in GB
    std::vector<std::string> aliases;  ///< other names that find it: "H100"
    std::string name;
    std::string vendor;  ///< "NVIDIA", "AWS", "Intel", "AMD"
    std::string architecture;
    std::optional<int> launch_year;
    Use use = Use::training;
    Bytes memory;  ///< as the device reports it: what a process can really allocate before driver
                   ///< overhead
    BytesPerSecond memory_bandwidth;
    std::optional<FlopPerSecond>
        peak[kPrecisionCount];  ///< dense, no sparsity; indexed by Precision
    std::optional<FlopPerSecond>
        achievable_bf16;                 ///< best measured large matmul (fp16 where bf16 is absent)
    std::optional<int> multiprocessors;  ///< SMs; Neuron: cores
    std::optional<double> tdp_watt;
    LinkKind link = LinkKind::none;
    std::string link_name;  ///< "NVLink 4"
    std::optional<BytesPerSecond>
        link_bandwidth;  ///< one direction, per accelerator, to all peers together
    std::string notes;   ///< doubts and conflicts between sources, for people
    Provenance provenance;
    std::optional<FlopPerSecond> peak_for(Precision p) const { return peak[static_cast<int>(p)]; }
};

enum class Yes { no, yes, unknown };

struct Instance {
    std::string type;    ///< "p5.48xlarge"
    std::string family;  ///< "p5"
    int vcpu = 0;
    Bytes memory;
    std::string accelerator;  ///< Accelerator::id, empty for head-node types
    int accelerators = 0;     ///< count of chips; 0 for fractional sizes, which are not planned on
    std::optional<double>
        accelerator_share;  ///< fraction of one accelerator that a fractional size has (g6f)
    std::optional<BytesPerSecond> network;  ///< all cards, one direction, per instance
    Yes efa = Yes::unknown;
    int efa_interfaces = 0;
    std::optional<int> network_cards;
    std::optional<int> efa_generation;
    Yes rdma_read = Yes::unknown;
    Yes rdma_write = Yes::unknown;
    Yes gpudirect_rdma = Yes::unknown;
    LinkKind intra_link = LinkKind::none;
    std::optional<Bytes> local_nvme;
    std::optional<BytesPerSecond> ebs_bandwidth;
    std::string launch;    ///< YYYY-MM-DD or empty
    bool retired = false;  ///< no longer offered for new launches
    std::string notes;
    Provenance provenance;
};

/// `spot` is a snapshot of a market price; `capacity_block` is paid up front; `reserved_*` are
/// effective $/h.
enum class PurchaseType {
    on_demand,
    spot,
    reserved_1y,
    reserved_3y,
    savings_plan_1y,
    savings_plan_3y,
    capacity_block
};
std::string_view to_string(PurchaseType p);
std::optional<PurchaseType> parse_purchase(std::string_view s);

struct Price {
    std::string provider;  ///< "AWS", "Lambda", "RunPod", …
    std::string item;      ///< instance type or the provider's own name
    std::string accelerator;
    int accelerators = 0;
    std::string region;
    std::string zone;
    PurchaseType purchase = PurchaseType::on_demand;
    std::string detail;  ///< e.g. "standard, no upfront"
    UsdPerSecond rate;   ///< per instance
    Provenance provenance;
};

/// AWS Spot Advisor band: share of instances interrupted, per instance and month (not per hour, not
/// per job).
struct InterruptionBand {
    std::string instance;
    std::string region;
    double low_per_month = 0;
    double high_per_month = 0;
    std::optional<double> savings;  ///< fraction against on-demand
    Provenance provenance;
};

/// Storage, transfer and control-plane prices, by stable key ("s3.standard.gb_month").
struct ServicePrice {
    std::string key;
    std::string region;
    double value = 0;
    std::string unit;  ///< "USD/GB-month", "USD/hour", …
    Provenance provenance;
};

/// A name/text pair per table: "accelerators.csv" -> contents. Missing tables fall back to the
/// embedded ones.
using Tables = std::map<std::string, std::string>;

class Catalog {
  public:
    /// Parses the tables. Any malformed row is a diagnostic with file, line and column; no row is
    /// silently dropped. With `today` (YYYY-MM-DD) a price of the future is refused, too.
    static Result<Catalog> load(const Tables& tables, std::string_view today = {});
    /// The tables compiled into the binary.
    static const Tables& embedded_tables();

    const Accelerator* accelerator(std::string_view id) const;
    const Instance* instance(std::string_view type) const;
    const std::vector<Accelerator>& accelerators() const { return accelerators_; }
    const std::vector<Instance>& instances() const { return instances_; }
    const std::vector<Price>& prices() const { return prices_; }
    const std::vector<InterruptionBand>& interruption_bands() const { return bands_; }
    const std::vector<ServicePrice>& services() const { return services_; }

    /// Cheapest matching price; newest snapshot wins before cheapest. nullopt if nobody published
    /// one. Rows that only bound others ("lowest zone", "highest zone") are never the answer. Dates
    /// without a day count from their first day: "2026" is older than "2026-07".
    std::optional<Price> price(std::string_view instance, PurchaseType purchase,
                               std::string_view region) const;
    std::optional<InterruptionBand> interruption(std::string_view instance,
                                                 std::string_view region) const;
    std::optional<ServicePrice> service(std::string_view key, std::string_view region) const;

    /// An override file (`--prices`): CSV with item, region, price_type, usd_per_hour [, as_of,
    /// source]. Rows replace equal (item, region, price_type). Missing, negative or NaN prices are
    /// diagnostics, and so is an instance that does not exist. Instead of usd_per_hour a row may
    /// give `discount` (0.12 or "12 %") on the prices already there; then `item` may be a family
    /// ("p5") and `region` "*". Returns the number of rows read.
    Result<int> apply_price_overrides(std::string_view text, std::string_view file,
                                      std::string_view today = {});

    /// The accelerator whose id or alias is nearest to a mistyped one; likewise for instances.
    std::optional<std::string> nearest_accelerator(std::string_view id) const;
    std::optional<std::string> nearest_instance(std::string_view type) const;

  private:
    friend class Loader;
    void index_prices();
    std::vector<Accelerator> accelerators_;
    std::vector<Instance> instances_;
    std::vector<Price> prices_;
    std::vector<InterruptionBand> bands_;
    std::vector<ServicePrice> services_;
    std::map<std::string, std::size_t, std::less<>> accelerator_index_;
    std::map<std::string, std::size_t, std::less<>> instance_index_;
    std::multimap<std::string, std::size_t, std::less<>> price_index_;  ///< by item
};

/// Whole days between an ISO date and `today` (also ISO); nullopt if either is malformed. "2026-07"
/// counts from its first day.
std::optional<int> age_in_days(std::string_view as_of, std::string_view today);

}  // namespace trainyard::catalog
