#pragma once
// Is this machine fit to begin? Facts in, findings out.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "trainyard/base/units.hpp"

namespace trainyard::agent {

struct MachineFacts {
    std::optional<int> accelerators;  ///< that the driver shows; nullopt: no driver
    std::vector<std::string> accelerator_names;
    std::string driver;
    int efa_devices = 0;
    std::optional<Bytes> shared_memory;
    std::optional<Bytes> disk_free;  ///< of the checkpoint directory
    std::optional<double> open_files;
    std::optional<Bytes> locked_memory;  ///< infinite: no limit
    std::optional<std::int64_t> huge_pages;
    std::optional<bool> clock_kept;
    std::vector<int> busy_ports;
    std::string store_problem;  ///< empty: none, or no store
};
/// What it should have; absent: not known.
struct MachineWants {
    std::string type;
    std::optional<int> accelerators;
    std::string accelerator;  ///< in words
    int efa_interfaces = 0;
    std::optional<Bytes> disk;
    bool has_store = false;
};

struct Finding {
    enum class Level { good, warning, failed };
    Level level = Level::good;
    std::string what;  ///< "accelerators"
    std::string text;
    std::string fix;
};
std::vector<Finding> preflight(const MachineFacts& facts, const MachineWants& wants);

}  // namespace trainyard::agent
