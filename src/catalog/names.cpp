// Every enumeration of the tables and its spelling in the files, in one place.

#include <array>
#include <utility>

#include "trainyard/catalog/catalog.hpp"

namespace trainyard::catalog {

namespace {

template <typename E, std::size_t N>
using Names = std::array<std::pair<E, std::string_view>, N>;

template <typename E, std::size_t N>
std::string_view name_of(const Names<E, N>& names, E value) {
    for (const auto& [candidate, name] : names) {
        if (candidate == value) return name;
    }
    return "?";
}

template <typename E, std::size_t N>
std::optional<E> value_of(const Names<E, N>& names, std::string_view text) {
    for (const auto& [candidate, name] : names) {
        if (name == text) return candidate;
    }
    return std::nullopt;
}

constexpr Names<Precision, 6> kPrecisions = {{{Precision::fp32, "fp32"},
                                              {Precision::tf32, "tf32"},
                                              {Precision::fp16, "fp16"},
                                              {Precision::bf16, "bf16"},
                                              {Precision::fp8, "fp8"},
                                              {Precision::fp4, "fp4"}}};
static_assert(kPrecisions.size() == kPrecisionCount);

constexpr Names<PurchaseType, 7> kPurchases = {{{PurchaseType::on_demand, "on_demand"},
                                                {PurchaseType::spot, "spot"},
                                                {PurchaseType::reserved_1y, "reserved_1y"},
                                                {PurchaseType::reserved_3y, "reserved_3y"},
                                                {PurchaseType::savings_plan_1y, "savings_plan_1y"},
                                                {PurchaseType::savings_plan_3y, "savings_plan_3y"},
                                                {PurchaseType::capacity_block, "capacity_block"}}};

constexpr Names<LinkKind, 6> kLinks = {{{LinkKind::none, "none"},
                                        {LinkKind::pcie, "pcie"},
                                        {LinkKind::nvlink_mesh, "nvlink_mesh"},
                                        {LinkKind::nvswitch, "nvswitch"},
                                        {LinkKind::neuronlink_torus, "neuronlink_torus"},
                                        {LinkKind::nvl72, "nvl72"}}};

constexpr Names<Status, 7> kStatuses = {{{Status::guide_claim, "guide_claim"},
                                         {Status::vendor_list, "vendor_list"},
                                         {Status::vendor_measured, "vendor_measured"},
                                         {Status::third_party_measured, "third_party_measured"},
                                         {Status::we_measured, "we_measured"},
                                         {Status::modelled, "modelled"},
                                         {Status::assumed, "assumed"}}};

constexpr Names<Use, 3> kUses = {
    {{Use::training, "training"}, {Use::inference, "inference"}, {Use::graphics, "graphics"}}};

}  // namespace

std::string_view to_string(Precision p) { return name_of(kPrecisions, p); }
std::optional<Precision> parse_precision(std::string_view s) { return value_of(kPrecisions, s); }
std::string_view to_string(PurchaseType p) { return name_of(kPurchases, p); }
std::optional<PurchaseType> parse_purchase(std::string_view s) { return value_of(kPurchases, s); }
std::string_view to_string(LinkKind k) { return name_of(kLinks, k); }
std::optional<LinkKind> parse_link_kind(std::string_view s) { return value_of(kLinks, s); }
std::string_view to_string(Status s) { return name_of(kStatuses, s); }
std::optional<Status> parse_status(std::string_view s) { return value_of(kStatuses, s); }

std::string_view to_string(Use u) { return name_of(kUses, u); }
std::optional<Use> parse_use(std::string_view s) { return value_of(kUses, s); }

}  // namespace trainyard::catalog
