#include "trainyard/nccl/diagnose.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace trainyard::nccl {
namespace {

const catalog::Catalog& hardware() {
    static const catalog::Catalog loaded =
        *catalog::Catalog::load(catalog::Catalog::embedded_tables());
    return loaded;
}

Diagnosis diagnosis_of(std::string_view text, std::string_view type = {}) {
    LogReader reader;
    reader.feed(text);
    Expected expected;
    const Log log = reader.finish();
    if (!type.empty()) {
        expected.instance = hardware().instance(type);
        expected.efa = 300 * kGBPerSecond;
        expected.tcp = 20 * kGBPerSecond;
    }
    return diagnose(log, expected, "job.log");
}

const Symptom* find(const Diagnosis& d, std::string_view id) {
    const auto at = std::find_if(d.symptoms.begin(), d.symptoms.end(),
                                 [&](const Symptom& s) { return s.id == id; });
    return at == d.symptoms.end() ? nullptr : &*at;
}

std::string two_hosts(std::string_view message) {
    return "a:1:2 [0] NCCL INFO " + std::string(message) + "\nb:1:2 [0] NCCL INFO " +
           std::string(message) + "\n";
}

const std::string kGood =
    two_hosts("NET/OFI Selected Provider is efa (found 32 nics)") +
    two_hosts("Using network AWS Libfabric") +
    two_hosts("Channel 00/0 : 8[0] -> 0[0] [receive] via NET/AWS Libfabric/0/GDRDMA");

TEST(Diagnose, NothingToSayOnAGoodLog) {
    const Diagnosis d = diagnosis_of(kGood, "p5.48xlarge");
    EXPECT_EQ(d.verdict, Verdict::efa);
    EXPECT_TRUE(d.symptoms.empty()) << d.symptoms.front().id;
}

TEST(Diagnose, SocketsBetweenNodesOfATypeWithEfa) {
    const std::string text =
        two_hosts("NET/Plugin: No plugin found (libnccl-net.so), using internal implementation") +
        two_hosts("Using network Socket");
    const Diagnosis d = diagnosis_of(text, "p4d.24xlarge");
    EXPECT_EQ(d.verdict, Verdict::tcp);
    const Symptom* tcp = find(d, "NCCL-TCP");
    ASSERT_NE(tcp, nullptr);
    EXPECT_EQ(tcp->severity, Severity::error);
    EXPECT_EQ(tcp->where.line, 3);
    EXPECT_NE(tcp->why.find("20 GB/s of bus bandwidth over the one card that TCP uses instead of "
                            "300 GB/s"),
              std::string::npos)
        << tcp->why;
    ASSERT_NE(find(d, "NCCL-PLUGIN"), nullptr);
    EXPECT_EQ(find(d, "NCCL-PLUGIN")->where.line, 1);
}

TEST(Diagnose, SocketsAreAllThatATypeWithoutEfaCanDo) {
    const Diagnosis d = diagnosis_of(two_hosts("Using network Socket"), "g5.4xlarge");
    ASSERT_NE(find(d, "NCCL-TCP"), nullptr);
    EXPECT_EQ(find(d, "NCCL-TCP")->severity, Severity::note);
}

TEST(Diagnose, SocketsOnOneNodeAreNoTrouble) {
    const Diagnosis d = diagnosis_of("a:1:2 [0] NCCL INFO Using network Socket\n", "p4d.24xlarge");
    EXPECT_EQ(d.verdict, Verdict::one_node);
    EXPECT_TRUE(d.symptoms.empty());
}

TEST(Diagnose, LibfabricOverTcp) {
    const std::string text = two_hosts("NET/OFI Selected Provider is tcp;ofi_rxm (found 1 nics)") +
                             two_hosts("Using network AWS Libfabric");
    const Diagnosis d = diagnosis_of(text, "p5.48xlarge");
    EXPECT_EQ(d.verdict, Verdict::tcp);
    ASSERT_NE(find(d, "NCCL-PROVIDER"), nullptr);
    EXPECT_NE(find(d, "NCCL-PROVIDER")->what.find("tcp"), std::string::npos);
}

TEST(Diagnose, SomeInterfacesOnly) {
    std::string text = kGood;
    text.replace(text.find("found 32"), 8, "found 4 ");
    const Diagnosis d = diagnosis_of(text, "p5.48xlarge");
    EXPECT_EQ(d.verdict, Verdict::efa_partly);
    ASSERT_NE(find(d, "NCCL-NICS"), nullptr);
    EXPECT_NE(find(d, "NCCL-NICS")->why.find("88 %"), std::string::npos);
}

TEST(Diagnose, WithoutGpuDirect) {
    const std::string text = two_hosts("NET/OFI Selected Provider is efa (found 32 nics)") +
                             two_hosts("Channel 0 : 8[0] -> 0[0] via NET/AWS Libfabric/0");
    EXPECT_NE(find(diagnosis_of(text, "p5.48xlarge"), "NCCL-GDR"), nullptr);
    EXPECT_EQ(find(diagnosis_of(text, "g6e.48xlarge"), "NCCL-GDR"), nullptr) << "it has none";
}

TEST(Diagnose, VersionsThatDiffer) {
    const std::string text = kGood + "a:1:2 [0] NCCL INFO NCCL version 2.21.5+cuda12.4\n" +
                             "b:1:2 [0] NCCL INFO NCCL version 2.18.1+cuda12.1\n";
    const Diagnosis d = diagnosis_of(text, "p5.48xlarge");
    ASSERT_NE(find(d, "NCCL-VERSIONS"), nullptr);
    ASSERT_NE(find(d, "NCCL-OLD"), nullptr) << "2.18.1 is older than P5 needs";
}

TEST(Diagnose, OldPluginOnP5) {
    const std::string text = kGood + two_hosts("NET/OFI Initializing aws-ofi-nccl 1.7.2-aws");
    ASSERT_NE(find(diagnosis_of(text, "p5.48xlarge"), "NCCL-OLD"), nullptr);
    EXPECT_EQ(find(diagnosis_of(text, "p4d.24xlarge"), "NCCL-OLD"), nullptr);
    const std::string fine = kGood + two_hosts("NET/OFI Initializing aws-ofi-nccl 1.12.0-aws");
    EXPECT_EQ(find(diagnosis_of(fine, "p5.48xlarge"), "NCCL-OLD"), nullptr);
}

TEST(Diagnose, CommunicatorsThatNeverCame) {
    const std::string text =
        kGood + two_hosts("comm 0x1 rank 0 nranks 16 cudaDev 0 busId 1 - Init START") +
        "a:1:2 [0] NCCL INFO comm 0x1 rank 0 nranks 16 cudaDev 0 busId 1 - Init COMPLETE\n";
    const Diagnosis d = diagnosis_of(text, "p5.48xlarge");
    ASSERT_NE(find(d, "NCCL-INIT"), nullptr);
    EXPECT_NE(find(d, "NCCL-INIT")->what.find("2 communicators were begun, 1"), std::string::npos);
}

TEST(Diagnose, KnownWarningsAndOthers) {
    const std::string text =
        kGood + "a:1:2 [0] NCCL WARN Error while creating shared memory segment /dev/shm/nccl-1\n" +
        "a:1:2 [0] NCCL WARN Something that nobody has seen\n";
    const Diagnosis d = diagnosis_of(text, "p5.48xlarge");
    ASSERT_NE(find(d, "NCCL-SHM"), nullptr);
    ASSERT_NE(find(d, "NCCL-WARN"), nullptr);
    EXPECT_EQ(d.symptoms.front().severity, Severity::error) << "worst first";
}

TEST(Diagnose, MeasuredFarBelowTheModel) {
    const std::string row =
        "  1073741824     268435456     float     sum      -1   5235.1  20.10  38.57      0\n";
    EXPECT_NE(find(diagnosis_of(kGood + row, "p5.48xlarge"), "NCCL-SLOW"), nullptr);
    const std::string good =
        "  1073741824     268435456     float     sum      -1   5235.1  205.10  384.57      0\n";
    EXPECT_EQ(find(diagnosis_of(kGood + good, "p5.48xlarge"), "NCCL-SLOW"), nullptr);
}

TEST(Diagnose, ALogThatSaysNothing) {
    const Diagnosis d = diagnosis_of("step 1 loss 2\n");
    EXPECT_EQ(d.verdict, Verdict::unknown);
    ASSERT_NE(find(d, "NCCL-SILENT"), nullptr);
}

TEST(Diagnose, NodesFromRanksWhereOneHostSpeaks) {
    LogReader reader;
    reader.feed("a:1:2 [0] NCCL INFO comm 0x1 rank 0 nranks 32 cudaDev 0 - Init START\n");
    const Log log = reader.finish();
    EXPECT_EQ(nodes_of(log, hardware().instance("p5.48xlarge")), 4);
    EXPECT_EQ(nodes_of(log, nullptr), 1);
}

}  // namespace
}  // namespace trainyard::nccl
