#pragma once
// Is this machine fit to begin? Facts in, findings out.

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "trainyard/base/units.hpp"

namespace trainyard::agent {

/// A short all-reduce over the devices of this machine.
struct AllReduce {
    std::string skipped;  ///< not empty: none was made, and why
    std::string problem;  ///< not empty: it failed, and how
    std::string how;      ///< "NCCL 2.21.5 of PyTorch 2.4.0, 8 ranks, 256 MiB"
    BytesPerSecond bus_bandwidth;

    static AllReduce not_made(std::string why) { return {std::move(why), {}, {}, {}}; }
    static AllReduce failed(std::string how) { return {{}, std::move(how), {}, {}}; }
};
struct MachineFacts {
    std::optional<int> accelerators;  ///< that the driver shows; nullopt: no driver
    std::vector<std::string> accelerator_names;
    std::string driver;
    std::string driver_problem;  ///< what it says in place of an answer
    int efa_devices = 0;
    std::optional<Bytes> shared_memory;
    std::optional<Bytes> disk_free;  ///< of the checkpoint directory
    std::optional<double> open_files;
    std::optional<Bytes> locked_memory;  ///< infinite: no limit
    std::optional<std::int64_t> huge_pages;
    std::optional<bool> clock_kept;
    std::vector<int> busy_ports;
    std::string store_problem;  ///< empty: none, or no store
    std::optional<AllReduce> all_reduce;
};
/// What it should have; absent: not known.
struct MachineWants {
    std::string type;
    std::optional<int> accelerators;
    std::string accelerator;  ///< in words
    int efa_interfaces = 0;
    std::optional<BytesPerSecond> bus_bandwidth;  ///< of the all-reduce, by our own model
    std::optional<Bytes> disk;
    bool has_store = false;
};

struct Finding {
    enum class Level { skipped, good, warning, failed };
    Level level = Level::good;
    std::string what;  ///< "accelerators"
    std::string text;
    std::string fix;
};
std::vector<Finding> preflight(const MachineFacts& facts, const MachineWants& wants);

}  // namespace trainyard::agent
