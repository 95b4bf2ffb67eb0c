#include "loader.hpp"

#include <algorithm>
#include <iterator>
#include <set>

#include "trainyard/base/text.hpp"

namespace trainyard::catalog {

namespace {

using Columns = std::span<const std::string_view>;

constexpr std::string_view kAcceleratorRequired[] = {
    "id",   "name",   "vendor", "architecture", "memory_gib", "memory_bandwidth_gb_per_s",
    "link", "status", "as_of",  "source"};
constexpr std::string_view kAcceleratorOptional[] = {
    "aliases",        "use",         "launch_year", "memory_nominal_gb",
    "memory_type",    "fp32_tflops", "tf32_tflops", "fp16_tflops",
    "bf16_tflops",    "fp8_tflops",  "fp4_tflops",  "link_name",
    "link_gb_per_s",  "tdp_watt",    "notes",       "achievable_bf16_tflops",
    "multiprocessors"};
constexpr std::string_view kInstanceRequired[] = {
    "type",         "family",  "vcpu",   "memory_gib", "accelerator",
    "accelerators", "retired", "status", "as_of",      "source"};
constexpr std::string_view kInstanceOptional[] = {
    "accelerator_share", "network_gbit_per_s", "efa",        "efa_interfaces", "network_cards",
    "efa_generation",    "rdma_read",          "rdma_write", "gpudirect_rdma", "intra_link",
    "local_nvme_gb",     "ebs_gbit_per_s",     "arch",       "launch",         "notes"};
constexpr std::string_view kPriceRequired[] = {"provider",     "item",  "region", "purchase",
                                               "usd_per_hour", "as_of", "status", "source"};
constexpr std::string_view kPriceOptional[] = {"accelerator", "accelerators", "zone", "detail"};
constexpr std::string_view kBandRequired[] = {
    "instance", "region", "low_per_month", "high_per_month", "as_of", "status", "source"};
constexpr std::string_view kBandOptional[] = {"savings"};
constexpr std::string_view kServiceRequired[] = {"key",   "region", "value", "unit",
                                                 "as_of", "status", "source"};
constexpr std::string_view kServiceOptional[] = {"notes"};

/// A table that misses what another names has one mistake in thousands of rows.
constexpr std::size_t kMostMistakes = 20;

void add_first(std::vector<Diagnostic>& mistakes, const std::string& file,
               std::vector<Diagnostic>& out) {
    const std::size_t all = mistakes.size();
    mistakes.resize(std::min(all, kMostMistakes));
    std::move(mistakes.begin(), mistakes.end(), std::back_inserter(out));
    if (all <= kMostMistakes) return;
    out.push_back({Severity::error,
                   {file, 0, 0},
                   std::to_string(all - kMostMistakes) + " more mistakes in this table",
                   {},
                   "a table must hold every type and accelerator that the others name; replace "
                   "those too"});
}

std::optional<BytesPerSecond> gbit(std::optional<double> v) {
    if (!v) return std::nullopt;
    return *v * kGbitPerSecond;
}

}  // namespace

template <typename Each>
bool Loader::read(std::string_view file, Columns required, Columns optional, Each each) {
    const auto found = tables_.find(std::string(file));
    if (found == tables_.end()) return false;
    auto table = doc::parse_csv(found->second, file);
    if (!table) {
        const std::vector<Diagnostic>& all = table.error().diagnostics;
        problems_.insert(problems_.end(), all.begin(), all.end());
        return false;
    }
    if (!check_columns(*table, required, optional, problems_)) return false;
    std::vector<Diagnostic> mistakes;
    for (std::size_t i = 0; i < table->size(); ++i) {
        TableRow row(*table, i, sources_, mistakes);
        each(row);
    }
    add_first(mistakes, table->file(), problems_);
    return true;
}

void Loader::read_sources() {
    constexpr std::string_view kColumns[] = {"id", "source"};
    read("sources.csv", kColumns, {}, [this](TableRow& row) {
        const std::string id = row.required("id");
        if (!sources_.emplace(id, row.required("source")).second)
            row.error("id", "source \"" + id + "\" is listed twice");
    });
}

void Loader::add_accelerator_name(TableRow& row, const std::string& name, std::size_t index) {
    if (!catalog_.accelerator_index_.emplace(name, index).second) {
        row.error("id", "accelerator \"" + name + "\" is listed twice",
                  "ids and aliases share one name space");
    }
}

bool Loader::read_accelerators() {
    constexpr std::string_view kPeaks[kPrecisionCount] = {
        "fp32_tflops", "tf32_tflops", "fp16_tflops", "bf16_tflops", "fp8_tflops", "fp4_tflops"};
    return read("accelerators.csv", kAcceleratorRequired, kAcceleratorOptional, [&](TableRow& row) {
        Accelerator a;
        a.id = row.required("id");
        a.name = row.required("name");
        a.vendor = row.required("vendor");
        a.architecture = row.required("architecture");
        a.launch_year = row.count("launch_year");
        if (const std::string use = row.text("use"); !use.empty()) {
            const auto parsed = parse_use(use);
            if (!parsed)
                row.error("use", "use: \"" + use + "\" is not known", "",
                          "one of training, inference, graphics");
            a.use = parsed.value_or(Use::training);
        }
        a.memory = row.required_positive("memory_gib") * kGiB;
        a.memory_bandwidth = row.required_positive("memory_bandwidth_gb_per_s") * kGBPerSecond;
        for (int p = 0; p < kPrecisionCount; ++p) {
            if (const auto v = row.positive(kPeaks[p])) a.peak[p] = *v * kTFlopPerSecond;
        }
        if (const auto v = row.positive("achievable_bf16_tflops"))
            a.achievable_bf16 = *v * kTFlopPerSecond;
        a.multiprocessors = row.count("multiprocessors");
        a.tdp_watt = row.positive("tdp_watt");
        if (const auto link = parse_link_kind(row.required("link"))) {
            a.link = *link;
        } else {
            row.error("link", "link: \"" + row.text("link") + "\" is not known", "",
                      "one of none, pcie, nvlink_mesh, nvswitch, neuronlink_torus, nvl72");
        }
        a.link_name = row.text("link_name");
        if (const auto v = row.positive("link_gb_per_s")) a.link_bandwidth = *v * kGBPerSecond;
        a.notes = row.text("notes");
        a.provenance = row.provenance();
        const std::size_t index = catalog_.accelerators_.size();
        add_accelerator_name(row, a.id, index);
        const std::string aliases = row.text("aliases");  // split() returns views into it
        for (const std::string_view alias : split(aliases, ';')) {
            if (trim(alias).empty()) continue;
            a.aliases.emplace_back(trim(alias));
            add_accelerator_name(row, a.aliases.back(), index);
        }
        catalog_.accelerators_.push_back(std::move(a));
    });
}

std::string Loader::accelerator_id(TableRow& row) {
    const std::string name = row.text("accelerator");
    if (name.empty()) return {};
    if (const Accelerator* a = catalog_.accelerator(name)) return a->id;
    const auto near = catalog_.nearest_accelerator(name);
    row.error("accelerator", "accelerator \"" + name + "\" is not in accelerators.csv", "",
              near ? "did you mean \"" + *near + "\"?" : "add it there first");
    return {};
}

bool Loader::read_instances() {
    return read("instances.csv", kInstanceRequired, kInstanceOptional, [this](TableRow& row) {
        Instance i;
        i.type = row.required("type");
        i.family = row.required("family");
        i.vcpu = row.required_count("vcpu");
        i.memory = row.required_positive("memory_gib") * kGiB;
        i.accelerator = accelerator_id(row);
        i.accelerators = row.required_count("accelerators");
        i.accelerator_share = row.positive("accelerator_share");
        if (i.accelerator.empty() && i.accelerators > 0)
            row.error("accelerator", "accelerators without an accelerator");
        i.network = gbit(row.positive("network_gbit_per_s"));
        i.efa = row.yes_no("efa");
        i.efa_interfaces = row.count("efa_interfaces").value_or(0);
        if (i.efa == Yes::no && i.efa_interfaces > 0)
            row.error("efa", "efa is no but efa_interfaces is not 0");
        i.network_cards = row.count("network_cards");
        i.efa_generation = row.count("efa_generation");
        i.rdma_read = row.yes_no("rdma_read");
        i.rdma_write = row.yes_no("rdma_write");
        i.gpudirect_rdma = row.yes_no("gpudirect_rdma");
        const std::string link = row.text("intra_link");
        if (const auto parsed = parse_link_kind(link.empty() ? "none" : link)) {
            i.intra_link = *parsed;
        } else {
            row.error("intra_link", "intra_link: \"" + link + "\" is not known", "",
                      "one of none, pcie, nvlink_mesh, nvswitch, neuronlink_torus, nvl72");
        }
        if (const auto v = row.not_negative("local_nvme_gb")) i.local_nvme = *v * kGB;
        i.ebs_bandwidth = gbit(row.positive("ebs_gbit_per_s"));
        i.launch = row.text("launch");
        if (!i.launch.empty() && !age_in_days(i.launch, "2026-01-01")) {
            row.error("launch", "launch: \"" + i.launch + "\" is not a date", "",
                      "write YYYY-MM-DD, or leave it empty");
        }
        i.retired = row.yes_no("retired") == Yes::yes;
        i.notes = row.text("notes");
        i.provenance = row.provenance();
        if (!catalog_.instance_index_.emplace(i.type, catalog_.instances_.size()).second) {
            row.error("type", "instance \"" + i.type + "\" is listed twice");
        }
        catalog_.instances_.push_back(std::move(i));
    });
}

void Loader::check_instance(TableRow& row, std::string_view column) {
    const std::string type = row.text(column);
    if (type.empty() || catalog_.instance(type) != nullptr) return;
    const auto near = catalog_.nearest_instance(type);
    row.error(column, "instance \"" + type + "\" is not in instances.csv", "",
              near ? "did you mean \"" + *near + "\"?" : "add it there first");
}

void Loader::read_prices() {
    std::set<std::string> seen;
    read("prices.csv", kPriceRequired, kPriceOptional, [&](TableRow& row) {
        Price p;
        p.provider = row.required("provider");
        p.item = row.required("item");
        if (p.provider == "AWS") check_instance(row, "item");
        p.accelerator = accelerator_id(row);
        p.accelerators = row.count("accelerators").value_or(0);
        p.region = row.required("region");
        p.zone = row.text("zone");
        const std::string purchase = row.required("purchase");
        if (const auto parsed = parse_purchase(purchase)) {
            p.purchase = *parsed;
        } else if (!purchase.empty()) {
            row.error("purchase", "purchase: \"" + purchase + "\" is not known", "",
                      "one of on_demand, spot, reserved_1y, reserved_3y, savings_plan_1y, "
                      "savings_plan_3y, "
                      "capacity_block");
        }
        p.detail = row.text("detail");
        p.rate = row.required_positive("usd_per_hour") * kUsdPerHour;
        if (p.rate > kMostPerHour)
            row.error("usd_per_hour", "usd_per_hour is over a million dollars an hour");
        p.provenance = row.provenance();
        if (own_.count("prices.csv") > 0) row.refuse_future(p.provenance.as_of, today_);
        const std::string key = p.provider + '|' + p.item + '|' + p.region + '|' + p.zone + '|' +
                                purchase + '|' + p.detail + '|' + p.provenance.as_of;
        if (!seen.insert(key).second)
            row.error("", "a second price for the same thing and date", key);
        catalog_.prices_.push_back(std::move(p));
    });
}

void Loader::read_bands() {
    read("spot_interruption.csv", kBandRequired, kBandOptional, [this](TableRow& row) {
        InterruptionBand b;
        b.instance = row.required("instance");
        check_instance(row, "instance");
        b.region = row.required("region");
        b.low_per_month = row.required_not_negative("low_per_month");
        b.high_per_month = row.required_positive("high_per_month");
        if (b.low_per_month >= b.high_per_month || b.high_per_month > 1) {
            row.error("low_per_month", "the band is not 0 <= low < high <= 1",
                      "both are shares of instances per month");
        }
        b.savings = row.not_negative("savings");
        if (b.savings && *b.savings >= 1) row.error("savings", "savings is a fraction below 1");
        b.provenance = row.provenance();
        catalog_.bands_.push_back(std::move(b));
    });
}

void Loader::read_services() {
    read("services.csv", kServiceRequired, kServiceOptional, [this](TableRow& row) {
        ServicePrice s;
        s.key = row.required("key");
        s.region = row.required("region");
        s.value = row.required_not_negative("value");
        s.unit = row.required("unit");
        s.provenance = row.provenance();
        catalog_.services_.push_back(std::move(s));
    });
}

Result<Catalog> Loader::load() {
    read_sources();
    if (read_accelerators() && read_instances()) {
        read_prices();
        read_bands();
    }
    read_services();
    if (!problems_.empty()) return bad_input(std::move(problems_));
    catalog_.index_prices();
    return std::move(catalog_);
}

}  // namespace trainyard::catalog
