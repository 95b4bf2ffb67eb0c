#include "trainyard/agent/preflight.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace trainyard::agent {
namespace {

using Level = Finding::Level;

/// A p5.48xlarge as it should be: 8 H100, 32 EFA.
MachineFacts good() {
    MachineFacts f;
    f.accelerators = 8;
    f.accelerator_names.assign(8, "NVIDIA H100 80GB HBM3");
    f.driver = "550.54";
    f.efa_devices = 32;
    f.shared_memory = 1000 * kGiB;
    f.disk_free = 5 * kTB;
    f.open_files = 65536;
    f.locked_memory = Bytes::from_base(INFINITY);
    f.huge_pages = 5128;
    f.clock_kept = true;
    f.all_reduce = AllReduce{{}, {}, "NCCL, 8 ranks, 256 MiB", 410 * kGBPerSecond};
    return f;
}
MachineWants wants() {
    MachineWants w;
    w.type = "p5.48xlarge";
    w.accelerators = 8;
    w.accelerator = "H100";
    w.efa_interfaces = 32;
    w.bus_bandwidth = 400 * kGBPerSecond;
    w.disk = kTB;
    w.has_store = true;
    return w;
}
Level worst(const MachineFacts& f, const std::string& what) {
    Level level = Level::good;
    for (const Finding& finding : preflight(f, wants())) {
        if (finding.what == what) level = std::max(level, finding.level);
        EXPECT_TRUE(finding.what == what || finding.level == Level::good) << finding.what;
    }
    return level;
}

TEST(Preflight, AGoodMachineIsGood) { EXPECT_EQ(worst(good(), ""), Level::good); }

TEST(Preflight, EachLackIsFoundAndNoOther) {
    MachineFacts f = good();
    f.accelerators = 7;
    EXPECT_EQ(worst(f, "accelerators"), Level::failed);
    f = good();
    f.accelerators.reset();
    EXPECT_EQ(worst(f, "accelerators"), Level::failed);
    f = good();
    f.accelerator_names.back() = "NVIDIA A100";
    EXPECT_EQ(worst(f, "accelerators"), Level::failed);
    f = good();
    f.efa_devices = 31;
    EXPECT_EQ(worst(f, "EFA"), Level::failed);
    f = good();
    f.shared_memory = 64 * kMiB;
    EXPECT_EQ(worst(f, "shared memory"), Level::warning);
    f = good();
    f.disk_free = kGiB;
    EXPECT_EQ(worst(f, "disk"), Level::failed);
    f = good();
    f.locked_memory = 8 * kMiB;
    EXPECT_EQ(worst(f, "locked memory"), Level::failed);
    f = good();
    f.huge_pages = 0;
    EXPECT_EQ(worst(f, "huge pages"), Level::warning);
    f = good();
    f.open_files = 1024;
    EXPECT_EQ(worst(f, "open files"), Level::warning);
    f = good();
    f.clock_kept = false;
    EXPECT_EQ(worst(f, "clock"), Level::warning);
    f = good();
    f.busy_ports = {29500};
    EXPECT_EQ(worst(f, "port"), Level::failed);
    f = good();
    f.store_problem = "access denied";
    EXPECT_EQ(worst(f, "store"), Level::failed);
    f = good();
    f.all_reduce->bus_bandwidth = 290 * kGBPerSecond;
    EXPECT_EQ(worst(f, "all-reduce"), Level::warning);
    f.all_reduce->problem = "rank 3: unhandled system error";
    EXPECT_EQ(worst(f, "all-reduce"), Level::failed);
}

TEST(Preflight, ASkippedAllReduceSaysWhy) {
    MachineFacts f = good();
    f.all_reduce->skipped = "python3 has no PyTorch";
    const Finding last = preflight(f, wants()).back();
    EXPECT_EQ(last.level, Level::skipped);
    EXPECT_EQ(last.text, "python3 has no PyTorch");
}

TEST(Preflight, WhatTheDriverSaysIsTold) {
    MachineFacts f = good();
    f.accelerators.reset();
    f.driver_problem = "Failed to initialize NVML: Driver/library version mismatch";
    EXPECT_NE(preflight(f, wants()).front().text.find("version mismatch"), std::string::npos);
}

}  // namespace
}  // namespace trainyard::agent
