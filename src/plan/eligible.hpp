#pragma once
// Which instance types may run a job at all, and the number or fact that keeps the others out.

#include <optional>
#include <vector>

#include "trainyard/plan/search.hpp"

namespace trainyard::plan {

/// A type that passed, with the precision it would train in.
struct Eligible {
    const catalog::Instance* instance = nullptr;
    const catalog::Accelerator* accelerator = nullptr;
    catalog::Precision precision = catalog::Precision::bf16;
};

enum class Rules {
    all,
    only_facts
};  ///< only_facts: for --why-not, rules of preference are skipped

/// The type, or why it cannot run this job.
struct Admission {
    std::optional<Eligible> eligible;
    std::optional<Rejection> rejection;
};
Admission admit(const catalog::Instance& instance, const Request& request,
                const catalog::Catalog& catalog, const Assumptions& a, Rules rules);

/// All types that pass; of several with the same accelerators and link and no fabric, only the
/// cheapest stays.
std::vector<Eligible> eligible_types(const Request& request, const catalog::Catalog& catalog,
                                     const Assumptions& a, std::vector<Rejection>& rejections);

/// May this type run over several nodes? EFA, and at least four accelerators or GPUDirect RDMA at
/// 100 Gbit/s: a gang of many small hosts over TCP multiplies every way to fail.
bool spans_nodes(const catalog::Instance& instance);

/// What NCCL gets without EFA: sockets on the one network card that carries the primary address.
perf::Interconnect tcp_fallback(perf::Interconnect efa, const catalog::Instance& instance);

/// Lowest on-demand, Capacity Block or spot rate in the regions; nullopt without any price.
std::optional<UsdPerSecond> cheapest_rate(const catalog::Instance& instance,
                                          const std::vector<std::string>& regions,
                                          const catalog::Catalog& catalog);

}  // namespace trainyard::plan
