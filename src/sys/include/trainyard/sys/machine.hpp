#pragma once
// What this machine has, as the kernel tells it. nullopt: it does not tell.

#include <cstdint>
#include <optional>
#include <string>

namespace trainyard::sys {

std::optional<std::uint64_t> free_bytes(const std::string& path);   ///< for us, of its file system
std::optional<std::uint64_t> total_bytes(const std::string& path);  ///< of its file system
std::optional<std::uint64_t> open_files_limit();                    ///< soft; 2^64 - 1: none
std::optional<std::uint64_t> locked_memory_limit();                 ///< bytes; 2^64 - 1: none
/// What stands below `root`/sys and `root`/proc; "" is this machine, a test has its own.
std::optional<std::int64_t> huge_pages(const std::string& root = "");  ///< of the default size
/// Whether the kernel's clock is kept by a time service (NTP, PTP).
std::optional<bool> is_clock_kept();
/// Devices of Elastic Fabric Adapters.
int efa_devices(const std::string& root = "");
/// AWS Trainium and Inferentia chips, and their driver's version.
/// Neuron Sysfs User Guide, https://awsdocs-neuron.readthedocs-hosted.com
struct NeuronDevices {
    int count = 0;
    std::string driver;  ///< empty: it does not tell
};
NeuronDevices neuron_devices(const std::string& root = "");
/// "p5.48xlarge": EC2 hosts of the Nitro system say so in their DMI; nullopt elsewhere.
std::optional<std::string> ec2_instance_type(const std::string& root = "");
/// Whether a TCP port can be listened at, on all addresses.
bool is_port_free(int port);
/// One that nothing listens at now; 0: none.
int free_port();
/// The IP address that other machines reach this one at: of the interface that leads outside, else
/// 127.0.0.1.
std::string own_address();

}  // namespace trainyard::sys
