#pragma once
// What the explaining parts of the planner look at: the request, the facts and the choice made.

#include "trainyard/plan/choose.hpp"

namespace trainyard::plan {

struct Context {
    const Request& request;
    const catalog::Catalog& catalog;
    const Assumptions& assumptions;
    const Work& work;
    const Limits& limits;
    const std::vector<Option>& options;
    const std::vector<Rejection>& rejections;
    const Option* chosen = nullptr;  ///< null if nothing is recommended
    const Option* requested =
        nullptr;  ///< the type and node count the user named, cheapest purchase
    const Option* elsewhere = nullptr;  ///< best option outside the type the user named
};

/// Cheapest guaranteed option of the same type and size; null if none.
const Option* same_cluster(const Context& x, const Option& like, Purchase purchase);

/// The service this size would get; it decides head node, control plane or uplift on the bill.
ServiceChoice service_for(const Candidate& c, const Request& request,
                          const catalog::Catalog& catalog, const Assumptions& a,
                          double outside_saving);

std::vector<Fact> facts_of(const Context& x, const ServiceChoice& service);
std::vector<std::string> reasons_of(const Context& x);
std::vector<std::string> risks_of(const Context& x);

/// Rental outside AWS for one device of the same class: the cheapest published price per
/// accelerator and hour.
struct OutsidePrice {
    catalog::Price price;
    UsdPerSecond per_accelerator;
};
std::optional<OutsidePrice> cheapest_outside(const catalog::Catalog& catalog,
                                             const catalog::Accelerator& like);

/// Facts of special jobs: Trainium prices, many copies, rental outside AWS, QLoRA on small cards, a
/// measured speed-up.
void special_facts(const Context& x, std::vector<Fact>& out);

/// SageMaker does not sell EC2's Capacity Blocks: the cheapest that a cluster of one's own would
/// book.
void block_fact(const Context& x, std::vector<Fact>& out);

/// FLOPs of the whole run and what 6 N T says.
struct WorkFlop {
    Flop total;
    Flop six_n_t;
};
WorkFlop work_flop(const Context& x, const Candidate& c);

}  // namespace trainyard::plan
