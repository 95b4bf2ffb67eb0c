#pragma once
// The performance model as the rules of check may ask it.

#include "trainyard/catalog/catalog.hpp"
#include "trainyard/lint/performance.hpp"

namespace trainyard::cli {

class CheckPerformance : public lint::Performance {
  public:
    std::optional<Memory> memory(const catalog::Catalog& catalog, const workload::Model& model,
                                 const workload::Training& training,
                                 const catalog::Instance& instance, int nodes) const override;
    std::optional<double> lost_over_tcp(const catalog::Catalog& catalog,
                                        const catalog::Instance& instance,
                                        int nodes) const override;
};

}  // namespace trainyard::cli
