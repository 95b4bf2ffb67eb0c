#pragma once
// What rules ask of the performance model. The layer below cannot see it: the command line hands it
// in. Without it, rules about memory and lost speed are silent.

#include <optional>
#include <string>

#include "trainyard/base/units.hpp"

namespace trainyard::catalog {
class Catalog;
struct Instance;
}  // namespace trainyard::catalog
namespace trainyard::workload {
struct Model;
struct Training;
}  // namespace trainyard::workload

namespace trainyard::lint {

class Performance {
  public:
    Performance() = default;
    Performance(const Performance&) = delete;
    Performance& operator=(const Performance&) = delete;
    virtual ~Performance() = default;

    struct Memory {
        Bytes needed;         ///< on the fullest device, without fragmentation
        Bytes capacity;       ///< that a process can use
        std::string largest;  ///< the largest term, in words
    };
    /// nullopt: the mapping is not legal, or the instance is not known well enough.
    virtual std::optional<Memory> memory(const catalog::Catalog& catalog,
                                         const workload::Model& model,
                                         const workload::Training& training,
                                         const catalog::Instance& instance, int nodes) const = 0;
    /// Fraction of the speed over EFA that is lost when traffic between nodes goes over TCP, for a
    /// job that stands for many: Llama 3.1 8B at 4,096 tokens, 4M tokens a step, ZeRO-1 over all
    /// devices: gradients cross the network once a step, so most jobs lose more.
    virtual std::optional<double> lost_over_tcp(const catalog::Catalog& catalog,
                                                const catalog::Instance& instance,
                                                int nodes) const = 0;
};

}  // namespace trainyard::lint
