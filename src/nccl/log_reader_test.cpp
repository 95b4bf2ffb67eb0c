#include <gtest/gtest.h>

#include <string>

#include "trainyard/nccl/log.hpp"

namespace trainyard::nccl {
namespace {

Log read(std::string_view text, std::size_t chunk = 1000000) {
    LogReader reader;
    for (std::size_t at = 0; at < text.size(); at += chunk) reader.feed(text.substr(at, chunk));
    return reader.finish();
}

// Lines as aws-ofi-nccl 1.9 and NCCL 2.21 write them (message texts: their sources).
constexpr std::string_view kEfa =
    "train step 1\n"
    "NCCL version 2.21.5+cuda12.4\n"
    "ip-10-0-0-1:101:201 [0] NCCL INFO NET/OFI Initializing aws-ofi-nccl 1.9.1-aws\n"
    "ip-10-0-0-1:101:201 [0] NCCL INFO NET/OFI Running on p5.48xlarge platform, topology file "
    "/opt/amazon/ofi-nccl/share/aws-ofi-nccl/xml/p5.48xl-topo.xml\n"
    "ip-10-0-0-1:101:201 [0] NCCL INFO NET/OFI Selected Provider is efa (found 32 nics)\n"
    "ip-10-0-0-1:101:201 [0] NCCL INFO Using network AWS Libfabric\n"
    "0: ip-10-0-0-2:77:88 [0] NCCL INFO Using network AWS Libfabric\n"
    "[1,9]<stdout>:ip-10-0-0-2:77:88 [1] NCCL INFO Channel 00/0 : 8[0] -> 0[0] [receive] via "
    "NET/AWS Libfabric/3/GDRDMA\n"
    "ip-10-0-0-1:101:201 [0] NCCL INFO Channel 01/0 : 0[0] -> 8[0] [send] via NET/AWS "
    "Libfabric/0\r\n"
    "ip-10-0-0-1:101:201 [0] NCCL INFO NCCL_SOCKET_IFNAME set by environment to ens.\n"
    "ip-10-0-0-1:101:201 [0] NCCL INFO comm 0x55 rank 0 nranks 16 cudaDev 0 busId 1 - Init START\n"
    "ip-10-0-0-1:101:201 [0] NCCL INFO comm 0x55 rank 0 nranks 16 cudaDev 0 busId 1 - Init "
    "COMPLETE\n"
    "ip-10-0-0-1:101:201 [0] NCCL INFO NET/Plugin: Failed to find ncclNetPlugin_v8 symbol.\n"
    "ip-10-0-0-2:77:88 [1] NCCL WARN Call to connect to 10.0.0.1<4711> failed : Connection "
    "refused\n"
    "ip-10-0-0-2:78:89 [2] NCCL WARN Call to connect to 10.0.0.1<4712> failed : Connection "
    "refused\n"
    "#       size         count      type   redop    root     time   algbw   busbw #wrong\n"
    "  1073741824     268435456     float     sum      -1   5235.1  205.10  384.57      0   5199\n"
    "# Avg bus bandwidth    : 384.57\n";

TEST(LogReader, FindsWhatTheLinesSay) {
    const Log log = read(kEfa);
    EXPECT_EQ(log.lines, 18U);
    EXPECT_EQ(log.nccl_lines, 13U);
    ASSERT_EQ(log.hosts.size(), 2U);
    EXPECT_EQ(log.hosts.begin()->first, "ip-10-0-0-1");
    EXPECT_EQ(log.hosts.begin()->second.nics, std::set<int>{0});
    EXPECT_EQ(log.hosts.rbegin()->second.nics, std::set<int>{3});
    EXPECT_TRUE(log.versions.contains("2.21.5+cuda12.4"));
    EXPECT_TRUE(log.plugin_versions.contains("1.9.1-aws"));
    ASSERT_TRUE(log.providers.contains("efa"));
    EXPECT_EQ(log.providers.at("efa").line, 5);
    EXPECT_TRUE(log.nic_counts.contains("32"));
    ASSERT_EQ(log.platforms.size(), 1U);
    EXPECT_TRUE(log.platforms.contains("p5.48xlarge"));
    EXPECT_EQ(log.networks.at("AWS Libfabric").count, 2U);
    EXPECT_EQ(log.network_channels, 2U);
    EXPECT_EQ(log.gdr_channels, 1U);
    EXPECT_TRUE(log.transports.contains("AWS Libfabric"));
    EXPECT_TRUE(log.environment.contains("NCCL_SOCKET_IFNAME=ens"));
    EXPECT_EQ(log.ranks, 16U);
    EXPECT_EQ(log.inits_started, 1U);
    EXPECT_EQ(log.inits_complete, 1U);
    EXPECT_FALSE(log.no_plugin) << log.no_plugin->text;
    ASSERT_EQ(log.warnings.size(), 1U) << "the numbers differ, the trouble is one";
    EXPECT_EQ(log.warnings.begin()->second.count, 2U);
    EXPECT_EQ(log.warnings.begin()->second.line, 14);
    ASSERT_TRUE(log.measured);
    EXPECT_EQ(log.measured->bytes, 1073741824U);
    EXPECT_DOUBLE_EQ(log.measured->bus_gb_per_s, 384.57);
    EXPECT_DOUBLE_EQ(log.average_bus_gb_per_s.value_or(0), 384.57);
}

TEST(LogReader, ChunksDoNotMatter) {
    const Log whole = read(kEfa);
    for (const std::size_t size : {1U, 2U, 7U, 64U, 131U}) {
        const Log parts = read(kEfa, size);
        EXPECT_EQ(parts.lines, whole.lines) << size;
        EXPECT_EQ(parts.nccl_lines, whole.nccl_lines) << size;
        EXPECT_EQ(parts.warnings.begin()->second.line, whole.warnings.begin()->second.line);
        EXPECT_EQ(parts.network_channels, whole.network_channels) << size;
    }
}

TEST(LogReader, MemoryIsBoundedByLongLinesAndManyHosts) {
    LogReader reader;
    const std::string piece(1 << 20, 'x');
    for (int i = 0; i < 8; ++i) reader.feed(piece);
    reader.feed("\n");
    for (int i = 0; i < 10000; ++i) {
        reader.feed("host" + std::to_string(i) + ":1:2 [0] NCCL INFO Using network Socket\n");
    }
    const Log log = reader.finish();
    EXPECT_EQ(log.lines, 10001U);
    EXPECT_EQ(log.hosts.size(), kMostKept);
    EXPECT_EQ(log.networks.at("Socket").count, 10000U);
}

TEST(LogReader, OddLinesAreNotMistaken) {
    for (const std::string_view text :
         {"NCCL INFO ", "NCCL WARN", ":NCCL INFO Channel", "a:b NCCL INFO Channel via NET/",
          "1 2 3 4 5 6 7 8 9", "# Avg bus bandwidth", "# Avg bus bandwidth : nan",
          "[0] NCCL INFO  nranks 99999999999999999999999", "\xff\xfe NCCL INFO Using network "}) {
        const Log log = read(text);
        EXPECT_EQ(log.hosts.size(), 0U) << text;
        EXPECT_FALSE(log.measured) << text;
        EXPECT_EQ(log.ranks, 0U) << text;
    }
}

}  // namespace
}  // namespace trainyard::nccl
