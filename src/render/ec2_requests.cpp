#include "ec2_requests.hpp"

#include <openssl/evp.h>

#include <algorithm>
#include <cmath>

#include "iam.hpp"
#include "limits.hpp"
#include "network_interfaces.hpp"
#include "placeholders.hpp"

namespace trainyard::render {
namespace {

constexpr const char* kOffers = "ec2.describe-capacity-block-offerings.json";
constexpr const char* kPurchase = "ec2.purchase-capacity-block.json";

using doc::Node;

Node one(Node item) {
    Node list = Node::list();
    list.append(std::move(item));
    return list;
}
Node one(std::string_view text) { return one(Node::string(std::string(text))); }

Node map_of(std::string key, Node value) {
    Node m = Node::map();
    m.set(std::move(key), std::move(value));
    return m;
}

std::string base64(const std::string& text) {
    std::string out(4 * ((text.size() + 2) / 3) + 1, '\0');  // EVP writes a NUL behind it
    const int n = EVP_EncodeBlock(reinterpret_cast<unsigned char*>(out.data()),
                                  reinterpret_cast<const unsigned char*>(text.data()),
                                  static_cast<int>(text.size()));
    out.resize(static_cast<std::size_t>(n));
    return out;
}

Node interfaces(const Recipe& r) {
    Node list = Node::list();
    for (const NetworkInterface& i : network_interfaces(r.instance, r.uses_efa())) {
        Node n = Node::map();
        n.set("NetworkCardIndex", i.card);
        n.set("DeviceIndex", i.device);
        n.set("InterfaceType", i.efa_only ? "efa-only" : "interface");
        n.set("Groups", one(kSecurityGroup.value));
        n.set("DeleteOnTermination", true);
        list.append(std::move(n));
    }
    return list;
}

Node root_volume(const Recipe& r) {
    Node ebs = Node::map();
    double gb = limit(r.is_trainium() ? "ec2.root_volume_neuron" : "ec2.root_volume");
    // Without local NVMe the checkpoints lie here: two of them.
    if (!r.instance.local_nvme) gb += std::ceil(2 * (r.checkpoint / kGB));
    ebs.set("VolumeSize", static_cast<std::int64_t>(std::min(gb, limit("ebs.volume"))));
    ebs.set("VolumeType", "gp3");
    ebs.set("Encrypted", true);
    ebs.set("DeleteOnTermination", true);
    Node mapping = Node::map();
    mapping.set("DeviceName", "/dev/sda1");
    mapping.set("Ebs", std::move(ebs));
    return one(std::move(mapping));
}

Node reservation() {
    Node n = Node::map();
    n.set("CapacityReservationPreference", "capacity-reservations-only");
    n.set("CapacityReservationTarget",
          map_of("CapacityReservationId", Node::string(std::string(kReservation.value))));
    return n;
}

/// All nodes or none, of one type in one zone.
Node gang(Node options, int nodes) {
    options.set("SingleInstanceType", true);
    options.set("SingleAvailabilityZone", true);
    options.set("MinTargetCapacity", nodes);
    return options;
}

Node spot_options(const Recipe& r, int nodes) {
    Node n = Node::map();
    // A gang loses all when one node goes: the deepest pool before the cheapest.
    n.set("AllocationStrategy", r.nodes > 1 ? "capacity-optimized" : "price-capacity-optimized");
    n.set("InstanceInterruptionBehavior", "terminate");
    return gang(std::move(n), nodes);
}

Node on_demand_options(int nodes) {
    Node n = Node::map();
    n.set("AllocationStrategy", "lowest-price");
    return gang(std::move(n), nodes);
}

const char* default_type(FleetPay pay) {
    switch (pay) {
        case FleetPay::on_demand:
            return "on-demand";
        case FleetPay::capacity_block:
            return "capacity-block";
        case FleetPay::spot:
        case FleetPay::both:
            break;
    }
    return "spot";
}

Node targets(const Fleet& f) {
    Node n = Node::map();
    n.set("TotalTargetCapacity", f.nodes);
    n.set("DefaultTargetCapacityType", default_type(f.pay));
    if (f.pay == FleetPay::on_demand || f.pay == FleetPay::both)
        n.set("OnDemandTargetCapacity", f.guaranteed);
    if (f.pay == FleetPay::spot || f.pay == FleetPay::both)
        n.set("SpotTargetCapacity", f.nodes - f.guaranteed);
    return n;
}

}  // namespace

std::vector<Fleet> fleets_of(const Recipe& r) {
    switch (r.purchase) {
        case Purchase::spot:
            return {{"", FleetPay::spot, r.nodes, 0}};
        case Purchase::capacity_block:
            return {{"", FleetPay::capacity_block, r.nodes, r.nodes}};
        case Purchase::mixed:
            if (r.block_days) {
                return {{"block", FleetPay::capacity_block, r.base_nodes, r.base_nodes},
                        {"spot", FleetPay::spot, r.nodes - r.base_nodes, 0}};
            }
            return {{"", FleetPay::both, r.nodes, r.base_nodes}};
        case Purchase::on_demand:
        case Purchase::commitment:
            break;
    }
    return {{"", FleetPay::on_demand, r.nodes, r.nodes}};
}

std::string template_name(const Ec2Run& run, const Fleet& f) {
    return run.name + "-nodes" + (f.label.empty() ? "" : "-" + f.label);
}
std::string placement_name(const Ec2Run& run) { return run.name + "-cluster"; }
std::string security_name(const Ec2Run& run) { return run.name + "-nodes"; }

Node launch_template(const Recipe& r, const Ec2Run& run, const Fleet& f) {
    Node data = Node::map();
    data.set("ImageId", run.image);
    data.set("InstanceType", r.instance.type);
    data.set("IamInstanceProfile", map_of("Name", Node::string(run_role_name(run.name))));
    data.set("NetworkInterfaces", interfaces(r));
    if (run.own_placement && f.pay != FleetPay::capacity_block)
        data.set("Placement", map_of("GroupName", Node::string(placement_name(run))));
    if (f.pay == FleetPay::capacity_block) {
        data.set("InstanceMarketOptions", map_of("MarketType", Node::string("capacity-block")));
        data.set("CapacityReservationSpecification", reservation());
    }
    data.set("BlockDeviceMappings", root_volume(r));
    Node imds = Node::map();
    imds.set("HttpTokens", "required");
    imds.set("HttpPutResponseHopLimit", 2);
    data.set("MetadataOptions", std::move(imds));
    data.set("InstanceInitiatedShutdownBehavior", "terminate");
    data.set("TagSpecifications", tag_specifications(r, run.name, {"instance", "volume"}));
    data.set("UserData", base64(run.user_data));
    Node body = Node::map();
    body.set("LaunchTemplateName", template_name(run, f));
    body.set("LaunchTemplateData", std::move(data));
    body.set("TagSpecifications", tag_specifications(r, run.name, {"launch-template"}));
    return body;
}

Node create_fleet(const Recipe& r, const Ec2Run& run, const Fleet& f) {
    Node specification = Node::map();
    specification.set("LaunchTemplateName", template_name(run, f));
    specification.set("Version", "$Latest");
    Node machine = Node::map();
    machine.set("InstanceType", r.instance.type);
    machine.set("SubnetId", kPrivateSubnet.value);
    Node config = Node::map();
    config.set("LaunchTemplateSpecification", std::move(specification));
    config.set("Overrides", one(std::move(machine)));

    Node body = Node::map();
    body.set("Type", "instant");
    body.set("LaunchTemplateConfigs", one(std::move(config)));
    body.set("TargetCapacitySpecification", targets(f));
    if (f.pay == FleetPay::on_demand || f.pay == FleetPay::both)
        body.set("OnDemandOptions", on_demand_options(f.guaranteed));
    if (f.pay == FleetPay::spot || f.pay == FleetPay::both)
        body.set("SpotOptions", spot_options(r, f.nodes - f.guaranteed));
    body.set("TagSpecifications", tag_specifications(r, run.name, {"fleet"}));
    return body;
}

Node placement_group(const Recipe& r, const Ec2Run& run) {
    Node body = Node::map();
    body.set("GroupName", placement_name(run));
    body.set("Strategy", "cluster");
    body.set("TagSpecifications", tag_specifications(r, run.name, {"placement-group"}));
    return body;
}

Node security_group(const Recipe& r, const Ec2Run& run) {
    Node body = Node::map();
    body.set("GroupName", security_name(run));
    body.set("Description", "Nodes of one training run: all traffic among themselves");
    body.set("VpcId", kVpc.value);
    body.set("TagSpecifications", tag_specifications(r, run.name, {"security-group"}));
    return body;
}

Node self_rule() {
    Node pair = Node::map();
    pair.set("GroupId", kSecurityGroup.value);
    Node permission = Node::map();
    permission.set("IpProtocol", "-1");
    permission.set("UserIdGroupPairs", one(std::move(pair)));
    Node body = Node::map();
    body.set("GroupId", kSecurityGroup.value);
    body.set("IpPermissions", one(std::move(permission)));
    return body;
}

Node block_offerings(const Recipe& r, int nodes) {
    Node body = Node::map();
    body.set("InstanceType", r.instance.type);
    body.set("InstanceCount", nodes);
    body.set("CapacityDurationHours", r.block_days.value_or(1) * 24);
    return body;
}

Node purchase_block(const Recipe& r, std::string_view job) {
    Node body = Node::map();
    body.set("CapacityBlockOfferingId", kOffering.value);
    body.set("InstancePlatform", "Linux/UNIX");
    body.set("TagSpecifications", tag_specifications(r, job, {"capacity-reservation"}));
    return body;
}

void add_block_purchase(Directory& out, const Recipe& r, std::string_view job, int nodes) {
    if (!r.block_days) return;
    out.add({kOffers, write_json(block_offerings(r, nodes))});
    out.add({kPurchase, write_json(purchase_block(r, job))});
}

std::vector<std::string> block_commands(const Directory& out, const Recipe& r) {
    if (out.find(kPurchase) == nullptr) return {};
    return {"# buy the Capacity Block: it is paid at once and cannot be given back",
            send_request(r, *out.find(kOffers)), send_request(r, *out.find(kPurchase))};
}

}  // namespace trainyard::render
