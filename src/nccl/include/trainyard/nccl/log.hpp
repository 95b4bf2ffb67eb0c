#pragma once
// What NCCL says about itself with NCCL_DEBUG=INFO, and what nccl-tests measured. Pure: chunks of
// text in, facts with their lines out. Sources of the phrases: NVIDIA/nccl src/ (2.18 to 2.30),
// aws/aws-ofi-nccl src/ (1.4 to 1.21), NVIDIA/nccl-tests src/common.cu.

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace trainyard::nccl {

/// How often something was said, and where first: line and column from 1, and the words.
struct Seen {
    std::uint64_t count = 0;
    int line = 0;
    int column = 0;
    std::string text;  ///< NCCL's message, without host and process
};

/// Large jobs repeat themselves; no more than this many different values of a kind are kept.
inline constexpr std::size_t kMostKept = 4096;

using Said = std::map<std::string, Seen, std::less<>>;

struct Host {
    Seen seen;
    std::string nccl_version;    ///< first said; empty: not said
    std::string plugin_version;  ///< of aws-ofi-nccl
    std::set<int> nics;          ///< that its channels use
};

/// Largest all-reduce (or other collective) of an nccl-tests table.
struct Measured {
    std::uint64_t bytes = 0;
    double bus_gb_per_s = 0;  ///< out of place
    int line = 0;
};

struct Log {
    std::uint64_t lines = 0;
    std::uint64_t nccl_lines = 0;
    std::map<std::string, Host, std::less<>> hosts;
    Said versions;                       ///< "2.21.5+cuda12.4"
    Said plugin_versions;                ///< "1.9.1-aws"
    Said networks;                       ///< "Socket", "AWS Libfabric", "IB": `Using network …`
    Said providers;                      ///< "efa", "tcp": libfabric's
    Said nic_counts;                     ///< "found 32 nics"
    Said platforms;                      ///< "p5.48xlarge": the plugin's own detection
    Said environment;                    ///< variable -> value, as `… set by environment to …`
    Said warnings;                       ///< NCCL WARN, numbers taken out so that repeats meet
    Said transports;                     ///< "AWS Libfabric", "Socket": channels between nodes
    std::optional<Seen> no_plugin;       ///< the network plugin was not found or not loaded
    std::optional<Seen> gdr_off;         ///< NCCL or the plugin says that GPUDirect RDMA is off
    std::uint64_t network_channels = 0;  ///< ends of channels that go through a network
    std::uint64_t gdr_channels = 0;      ///< of these, with GPUDirect RDMA
    std::optional<Seen> channel_without_gdr;
    std::uint64_t ranks = 0;          ///< largest communicator
    std::uint64_t inits_started = 0;  ///< of communicators, one each rank
    std::uint64_t inits_complete = 0;
    std::optional<Measured> measured;
    std::optional<double> average_bus_gb_per_s;  ///< nccl-tests' last line
};

/// Any bytes are accepted; a line beyond 16 KiB is cut.
class LogReader {
  public:
    void feed(std::string_view chunk);
    Log finish();

  private:
    void line(std::string_view text);
    void message(Host* host, std::string_view text, int column);
    void information(Host* host, std::string_view text, int column);
    void plugin(Host* host, std::string_view text, int column);
    void channel(Host* host, std::string_view text, int column);
    void table_row(std::string_view text);
    Seen* note(Said& said, std::string_view key, std::string_view text, int column);
    Host* host_of(std::string_view prefix);

    Log log_;
    std::string rest_;
    Host* last_host_ = nullptr;
    std::string last_name_;
};

}  // namespace trainyard::nccl
