#include "trainyard/sys/machine.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/statvfs.h>
#include <sys/timex.h>

#include <array>
#include <cstdlib>

#include "trainyard/sys/child.hpp"

namespace trainyard::sys {

namespace {

std::optional<std::uint64_t> limit_of(__rlimit_resource kind) {
    struct rlimit limit{};
    if (::getrlimit(kind, &limit) != 0) return std::nullopt;
    return limit.rlim_cur;
}

/// The first line of a small file of the kernel; empty if there is none.
std::string line_of(const std::string& path) {
    auto text = read_whole(real_env(), path, 4096).value_or("");
    return text.substr(0, text.find('\n'));
}

}  // namespace

std::optional<std::uint64_t> free_bytes(const std::string& path) {
    struct statvfs s{};
    if (::statvfs(path.c_str(), &s) != 0) return std::nullopt;
    return std::uint64_t{s.f_bavail} * s.f_frsize;
}

std::optional<std::uint64_t> total_bytes(const std::string& path) {
    struct statvfs s{};
    if (::statvfs(path.c_str(), &s) != 0) return std::nullopt;
    return std::uint64_t{s.f_blocks} * s.f_frsize;
}

std::optional<std::uint64_t> open_files_limit() { return limit_of(RLIMIT_NOFILE); }
std::optional<std::uint64_t> locked_memory_limit() { return limit_of(RLIMIT_MEMLOCK); }

std::optional<std::int64_t> huge_pages(const std::string& root) {
    const auto text = line_of(root + "/proc/sys/vm/nr_hugepages");
    if (text.empty()) return std::nullopt;
    return std::strtoll(text.c_str(), nullptr, 10);
}

std::optional<bool> is_clock_kept() {
    struct timex state{};
    const int answer = ::adjtimex(&state);
    if (answer < 0) return std::nullopt;
    return answer != TIME_ERROR;
}

int efa_devices(const std::string& root) {
    const std::string place = root + "/sys/class/infiniband";
    const auto devices = real_env().list(place);
    if (!devices) return 0;
    int count = 0;
    for (const DirectoryEntry& device : *devices) {
        // Named efa_N or rdmapNsM; the driver tells.
        const std::string driver = place + "/" + device.name + "/device/driver/module/";
        if (device.name.starts_with("efa") || real_env().status(driver + "drivers/pci:efa"))
            ++count;
    }
    return count;
}

NeuronDevices neuron_devices(const std::string& root) {
    NeuronDevices found;
    const auto devices = real_env().list(root + "/sys/devices/virtual/neuron_device");
    if (!devices) return found;
    for (const DirectoryEntry& device : *devices) {
        if (device.name.starts_with("neuron")) ++found.count;
    }
    found.driver = line_of(root + "/sys/module/neuron/version");
    return found;
}

std::optional<std::string> ec2_instance_type(const std::string& root) {
    const std::string place = root + "/sys/devices/virtual/dmi/id/";
    if (line_of(place + "sys_vendor") != "Amazon EC2") return std::nullopt;
    return line_of(place + "product_name");
}

namespace {

sockaddr_in ipv4(std::uint32_t host, int port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(host);
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    return address;
}

// The socket interface takes every family as sockaddr.
const sockaddr* plain(const sockaddr_in& address) {
    return reinterpret_cast<const sockaddr*>(&address);
}

/// What the kernel bound the socket to; nullopt: nothing.
std::optional<sockaddr_in> name_of(const Descriptor& socket) {
    sockaddr_in address{};
    socklen_t size = sizeof address;
    if (::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&address), &size) != 0) {
        return std::nullopt;
    }
    return address;
}

}  // namespace

bool is_port_free(int port) {
    const Descriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const int yes = 1;
    ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    const sockaddr_in address = ipv4(INADDR_ANY, port);
    return ::bind(socket.get(), plain(address), sizeof address) == 0 &&
           ::listen(socket.get(), 1) == 0;
}

int free_port() {
    const Descriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const sockaddr_in any = ipv4(INADDR_ANY, 0);
    if (::bind(socket.get(), plain(any), sizeof any) != 0) return 0;
    const auto bound = name_of(socket);
    return bound ? ntohs(bound->sin_port) : 0;
}

std::string own_address() {
    const Descriptor socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    constexpr std::uint32_t kDocumentation = 0xC0000201;  // 192.0.2.1, RFC 5737: never in use
    const sockaddr_in outside = ipv4(kDocumentation, 9);
    // A datagram socket sends nothing when it is connected: the kernel only chooses the interface.
    if (::connect(socket.get(), plain(outside), sizeof outside) != 0) return "127.0.0.1";
    const auto bound = name_of(socket);
    if (!bound) return "127.0.0.1";
    std::array<char, INET_ADDRSTRLEN> text{};
    ::inet_ntop(AF_INET, &bound->sin_addr, text.data(), text.size());
    return text.data();
}

}  // namespace trainyard::sys
