#pragma once
// Karpenter's part of an EKS rendering: which nodes there may be, and when they may go.

#include "kubernetes.hpp"

namespace trainyard::render {

/// A pool of nodes of one way to buy.
struct NodePart {
    std::string name;
    Purchase purchase = Purchase::on_demand;  ///< never mixed
    int nodes = 1;
};
/// One part, or two where the plan mixes guaranteed and spot nodes.
std::vector<NodePart> node_parts(const Recipe& recipe, const std::string& name);

/// EC2NodeClass and NodePool of each part.
std::vector<doc::Node> karpenter_nodes(const Recipe& recipe, const KubernetesRun& run);

/// Whether the nodes need a placement group of the user's own: a Capacity Block has its place.
bool needs_placement_group(const Recipe& recipe);

}  // namespace trainyard::render
