#pragma once
// Inside the EC2 Fleet target: the request bodies, one function each, and the script that a node
// runs when it starts.

#include <string>
#include <string_view>
#include <vector>

#include "launch.hpp"
#include "storage.hpp"
#include "trainyard/doc/node.hpp"
#include "trainyard/render/directory.hpp"
#include "trainyard/render/recipe.hpp"

namespace trainyard::render {

/// How one fleet is paid. both: on-demand and spot targets in one request.
enum class FleetPay { on_demand, spot, capacity_block, both };

/// One CreateFleet request with its launch template. A plan that mixes a Capacity Block with spot
/// needs two.
struct Fleet {
    std::string label;  ///< "" or "block", "spot": in file and template names
    FleetPay pay = FleetPay::on_demand;
    int nodes = 0;
    int guaranteed = 0;  ///< of them not spot
};
std::vector<Fleet> fleets_of(const Recipe& recipe);

struct Ec2Run {
    std::string name;
    Addresses at;
    std::string image;           ///< an AMI id or resolve:ssm:…
    std::string bin;             ///< directory of its Python; empty: on the PATH
    std::string user_data;       ///< plain text
    bool openzfs = false;        ///< mounts the OpenZFS file system at kNodeHome
    bool own_placement = false;  ///< a cluster placement group of the run's own
};

std::string template_name(const Ec2Run& run, const Fleet& fleet);
std::string placement_name(const Ec2Run& run);
std::string security_name(const Ec2Run& run);

doc::Node launch_template(const Recipe& recipe, const Ec2Run& run, const Fleet& fleet);
doc::Node create_fleet(const Recipe& recipe, const Ec2Run& run, const Fleet& fleet);
doc::Node placement_group(const Recipe& recipe, const Ec2Run& run);
doc::Node security_group(const Recipe& recipe, const Ec2Run& run);
/// All protocols from (or to) the group itself: what EFA traffic needs, both ways.
doc::Node self_rule();
doc::Node block_offerings(const Recipe& recipe, int nodes);
doc::Node purchase_block(const Recipe& recipe, std::string_view job);
/// The two requests that buy the plan's Capacity Block, if it has one, and the commands that send
/// them, for the README.
void add_block_purchase(Directory& out, const Recipe& recipe, std::string_view job, int nodes);
std::vector<std::string> block_commands(const Directory& out, const Recipe& recipe);

/// The script of cloud-init: waits for all nodes of the run, fetches the code and starts its
/// run.sh, passes a spot notice on, and ends the instance when that ends.
std::string start_script(const Recipe& recipe, const Ec2Run& run, const Launch& launch,
                         Framework framework);

/// code/run.sh: data, checkpoints and torchrun, as in pods.
std::string run_script(const Recipe& recipe, const Launch& launch);

inline constexpr const char* kNodeScratch = "/opt/dlami/nvme";
inline constexpr const char* kNodeHome = "/mnt/shared";
/// Directories on a node, as the training command names them.
struct NodePlaces {
    std::string code = "/opt/trainyard/code";
    std::string data = std::string(kNodeScratch) + "/data";
    std::string checkpoint = std::string(kNodeScratch) + "/checkpoints";
};
NodePlaces node_places(const Recipe& recipe);

}  // namespace trainyard::render
