#include "trainyard/sys/machine.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace trainyard::sys {
namespace {

namespace fs = std::filesystem;

/// A root with a /sys and a /proc of its own.
class Machine : public testing::Test {
  protected:
    void SetUp() override {
        std::string name = (fs::temp_directory_path() / "trainyard-machine-XXXXXX").string();
        ASSERT_NE(::mkdtemp(name.data()), nullptr);
        root = name;
    }
    void TearDown() override { fs::remove_all(root); }
    void write(const std::string& path, const std::string& text) const {
        fs::create_directories((root + path).substr(0, (root + path).rfind('/')));
        std::ofstream(root + path) << text;
    }

    std::string root;
};

TEST_F(Machine, WithNothingTellsNothing) {
    EXPECT_EQ(huge_pages(root), std::nullopt);
    EXPECT_EQ(efa_devices(root), 0);
    EXPECT_EQ(neuron_devices(root).count, 0);
    EXPECT_EQ(ec2_instance_type(root), std::nullopt);
}

TEST_F(Machine, HugePages) {
    write("/proc/sys/vm/nr_hugepages", "5128\n");
    EXPECT_EQ(huge_pages(root), 5128);
}

/// As on a p5: rdmapNsM with the driver of EFA, beside a Mellanox card.
TEST_F(Machine, EfaDevicesAreTheirDrivers) {
    write("/sys/bus/pci/drivers/efa/module/drivers/pci:efa/uevent", "");
    write("/sys/bus/pci/drivers/mlx5_core/module/drivers/pci:mlx5_core/uevent", "");
    for (const auto& [name, driver] :
         {std::pair{"rdmap79s0", "efa"}, {"rdmap80s0", "efa"}, {"mlx5_0", "mlx5_core"}}) {
        const std::string device = root + "/sys/class/infiniband/" + name + "/device";
        fs::create_directories(device);
        fs::create_directory_symlink(root + "/sys/bus/pci/drivers/" + driver, device + "/driver");
    }
    EXPECT_EQ(efa_devices(root), 2);
}

TEST_F(Machine, NeuronDevices) {
    write("/sys/devices/virtual/neuron_device/neuron0/core_count", "2\n");
    write("/sys/devices/virtual/neuron_device/neuron1/core_count", "2\n");
    write("/sys/devices/virtual/neuron_device/power/control", "auto\n");
    write("/sys/module/neuron/version", "2.24.7.0\n");
    EXPECT_EQ(neuron_devices(root).count, 2);
    EXPECT_EQ(neuron_devices(root).driver, "2.24.7.0");
}

TEST_F(Machine, InstanceTypeOfEc2Only) {
    write("/sys/devices/virtual/dmi/id/product_name", "p5.48xlarge\n");
    write("/sys/devices/virtual/dmi/id/sys_vendor", "QEMU\n");
    EXPECT_EQ(ec2_instance_type(root), std::nullopt);
    write("/sys/devices/virtual/dmi/id/sys_vendor", "Amazon EC2\n");
    EXPECT_EQ(ec2_instance_type(root), "p5.48xlarge");
}

}  // namespace
}  // namespace trainyard::sys
