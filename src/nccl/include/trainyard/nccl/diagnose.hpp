#pragma once
// What a log means: is EFA used, by all interfaces, with GPUDirect RDMA, by one version of
// everything; and if not, why.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trainyard/base/diagnostic.hpp"
#include "trainyard/base/units.hpp"
#include "trainyard/catalog/catalog.hpp"
#include "trainyard/nccl/log.hpp"

namespace trainyard::nccl {

enum class Verdict {
    efa,         ///< EFA, all interfaces that were asked for
    efa_partly,  ///< EFA, but some interfaces or GPUDirect RDMA are missing
    tcp,         ///< between nodes over sockets
    other,       ///< InfiniBand or another plugin
    one_node,    ///< no traffic between nodes
    unknown      ///< the log does not say
};
std::string_view to_string(Verdict v);  ///< "efa", "efa_partly", …

struct Symptom {
    std::string id;  ///< "NCCL-TCP"
    Severity severity = Severity::error;
    Location where;    ///< of the words
    std::string text;  ///< as the log says them; may be empty
    std::string what;  ///< one sentence without a full stop
    std::string why;
    std::string fix;
    std::string source;
    std::string instance;  ///< type of the log's nodes, "" if unknown
    int nodes = 0;         ///< that the job has; 0: unknown
};

/// What the hardware should give; unset where the type or its network is unknown.
struct Expected {
    const catalog::Instance* instance = nullptr;
    /// Bus bandwidth of a large all-reduce over the log's nodes: over EFA, and over TCP.
    std::optional<BytesPerSecond> efa, tcp;
    Bytes size;  ///< of that all-reduce
};

struct Diagnosis {
    Verdict verdict = Verdict::unknown;
    std::string summary;            ///< one line
    std::vector<Symptom> symptoms;  ///< worst first
};

Diagnosis diagnose(const Log& log, const Expected& expected, const std::string& file);

/// The instance type that the log names, if it names one and only one.
std::optional<std::string> instance_named(const Log& log);
/// Nodes of the job: hosts in the log, or what the ranks need if it holds one host only.
int nodes_of(const Log& log, const catalog::Instance* instance);

}  // namespace trainyard::nccl
