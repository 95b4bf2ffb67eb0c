#include "trainyard/agent/preflight.hpp"

#include <fmt/format.h>

#include <cmath>

#include "trainyard/base/text.hpp"

namespace trainyard::agent {

namespace {

using Level = Finding::Level;

/// The EFA driver reserves so many pages of 2 MiB
/// (https://docs.aws.amazon.com/eks/latest/userguide/node-efa.html).
constexpr std::int64_t kEfaHugePages = 5128;
/// Data loaders and NCCL share memory there; Docker gives 64 MiB unless told otherwise
/// (https://docs.docker.com/reference/cli/docker/container/run/, --shm-size).
constexpr Bytes kSharedMemory = kGiB;
/// A socket for each pair of ranks and channels, a file for each shard.
constexpr double kOpenFiles = 4096;

Finding accelerators(const MachineFacts& f, const MachineWants& w) {
    const int wanted = w.accelerators.value_or(0);
    if (!f.accelerators) {
        if (wanted == 0) return {Level::good, "accelerators", "none, none expected", {}};
        const std::string said = f.driver_problem.empty() ? "no driver answers" : f.driver_problem;
        return {Level::failed, "accelerators",
                fmt::format("{}; {} has {} {}", said, w.type, wanted, w.accelerator),
                "nvidia-smi (neuron-ls) must work; in a container: --gpus all"};
    }
    std::string have =
        fmt::format("{}{}{}", *f.accelerators, f.accelerator_names.empty() ? "" : " x ",
                    f.accelerator_names.empty() ? "" : f.accelerator_names.front());
    if (!f.driver.empty()) have += ", driver " + f.driver;
    for (const std::string& name : f.accelerator_names) {
        if (name == f.accelerator_names.front()) continue;
        return {Level::failed, "accelerators", fmt::format("{}, and another kind: {}", have, name),
                "one kind a node"};
    }
    if (w.accelerators && *f.accelerators < wanted) {
        return {
            Level::failed, "accelerators",
            fmt::format("{}; {} has {}: {} lost", have, w.type, wanted, wanted - *f.accelerators),
            "dmesg | grep -iE 'xid|neuron'; replace the node"};
    }
    return {Level::good, "accelerators", have, {}};
}

Finding fabric(const MachineFacts& f, const MachineWants& w) {
    if (f.efa_devices < w.efa_interfaces) {
        return {
            Level::failed, "EFA",
            fmt::format("{} of {} devices that {} has", f.efa_devices, w.efa_interfaces, w.type),
            "launch with one EFA a network card; install the EFA driver"};
    }
    return {Level::good,
            "EFA",
            f.efa_devices == 0 ? "none" : fmt::format("{} devices", f.efa_devices),
            {}};
}

Finding size_of(const char* what, std::optional<Bytes> have, std::optional<Bytes> wanted,
                Level level, const char* fix) {
    if (!have) return {Level::warning, what, "not known", {}};
    std::string text = std::isinf(*have / kByte) ? "no limit" : format_bytes(*have);
    if (wanted && *have < *wanted) {
        return {level, what, text + ", " + format_bytes(*wanted) + " wanted", fix};
    }
    return {Level::good, what, std::move(text), {}};
}

/// On the one published series of a P6-B200 the model is within a quarter
/// (docs/model/collectives.md): what is slower than that has another reason.
constexpr double kSlow = 0.75;

std::string rate(BytesPerSecond r) { return fmt::format("{:.3g} GB/s", r / kGBPerSecond); }

Finding all_reduce(const AllReduce& a, const MachineWants& w) {
    if (!a.skipped.empty()) return {Level::skipped, "all-reduce", a.skipped, {}};
    if (!a.problem.empty()) {
        return {Level::failed, "all-reduce", a.problem,
                "run it with NCCL_DEBUG=INFO and read the log with trainyard doctor"};
    }
    std::string text = fmt::format("bus bandwidth {} ({})", rate(a.bus_bandwidth), a.how);
    if (!w.bus_bandwidth) return {Level::good, "all-reduce", std::move(text), {}};
    text += fmt::format(", {} expected of {}", rate(*w.bus_bandwidth), w.type);
    const bool is_slow = a.bus_bandwidth < kSlow * *w.bus_bandwidth;
    return {is_slow ? Level::warning : Level::good, "all-reduce", std::move(text),
            is_slow ? "nvidia-smi nvlink -s, nvidia-smi topo -m; is the machine idle?" : ""};
}

}  // namespace

std::vector<Finding> preflight(const MachineFacts& f, const MachineWants& w) {
    std::vector<Finding> all{accelerators(f, w), fabric(f, w)};
    all.push_back(size_of("shared memory", f.shared_memory, kSharedMemory, Level::warning,
                          "docker run --shm-size=16g, or an emptyDir with medium Memory"));
    all.push_back(size_of("disk", f.disk_free, w.disk, Level::failed,
                          "free it, or another --checkpoint-dir"));
    if (f.efa_devices > 0) {
        all.push_back(size_of("locked memory", f.locked_memory, Bytes::from_base(INFINITY),
                              Level::failed,
                              "ulimit -l unlimited; Slurm: PropagateResourceLimits"));
        const std::int64_t pages = f.huge_pages.value_or(0);
        const bool is_enough = pages >= kEfaHugePages;
        all.push_back({is_enough ? Level::good : Level::warning, "huge pages",
                       fmt::format("{}{}", pages,
                                   is_enough ? "" : fmt::format(" of {} for EFA", kEfaHugePages)),
                       is_enough ? "" : "sysctl vm.nr_hugepages=5128, or FI_EFA_USE_HUGE_PAGE=0"});
    }
    const bool has_files = f.open_files.value_or(0) >= kOpenFiles;
    all.push_back({has_files ? Level::good : Level::warning, "open files",
                   f.open_files.value_or(0) > 1e15
                       ? "no limit"
                       : fmt::format("{:.0f}", f.open_files.value_or(0)),
                   has_files ? "" : "ulimit -n 65536"});
    const bool is_kept = f.clock_kept.value_or(false);
    all.push_back({is_kept ? Level::good : Level::warning, "clock",
                   !f.clock_kept ? "not known"
                   : is_kept     ? "kept by a time service"
                                 : "kept by nobody",
                   is_kept ? "" : "start chronyd: signatures of S3 allow 15 min"});
    for (const int port : f.busy_ports) {
        all.push_back({Level::failed, "port", fmt::format("{} is taken", port),
                       "end what listens there (ss -ltnp), or another MASTER_PORT"});
    }
    if (f.busy_ports.empty()) all.push_back({Level::good, "port", "free", {}});
    if (w.has_store) {
        all.push_back({f.store_problem.empty() ? Level::good : Level::failed,
                       "store",
                       f.store_problem.empty() ? "can be read" : f.store_problem,
                       {}});
    }
    if (f.all_reduce) all.push_back(all_reduce(*f.all_reduce, w));
    return all;
}

}  // namespace trainyard::agent
