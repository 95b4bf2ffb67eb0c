#pragma once
// Questions that several rules ask.

#include <string>
#include <string_view>
#include <vector>

#include "model.hpp"

namespace trainyard::lint::facts {

/// The one instance type of a list; nullptr if there are several or it is unknown.
const catalog::Instance* only(const Case& c, const std::vector<Said>& types);
/// The first type of the list that has accelerators; empty Said if none has.
Said accelerated(const Case& c, const std::vector<Said>& types);
/// GPUs or Trainium that people train on; AWS leaves such a node on for tens of dollars an hour.
bool is_accelerated(const Case& c, std::string_view type);
/// More than one network card or EFA interface: no public address can be assigned.
bool is_multi_card(const catalog::Instance& i);
/// Sold as Capacity Blocks: P4, P5, P6, Trainium.
bool is_block_type(std::string_view type);
/// The pod annotation that stops Karpenter from moving it.
bool is_kept(const Job& job);
/// Some gang admission: Kueue, Volcano, coscheduling, a PodGroup.
bool has_gang(const Job& job);
/// Where checkpoints go, by the usual names of options: --ckpt-dir, --save, --output_dir, …
Said checkpoint_dir(const std::vector<Said>& words);
/// "p5.48xlarge" of "ml.p5.48xlarge".
std::string_view bare_type(std::string_view type);
std::string_view family_of(std::string_view type);
/// A pod's volume that is mounted at `path` or above it: the volume's node.
const doc::Node* volume_at(const Job& job, std::string_view path);
/// "1.10.2" -> {1, 10, 2}; stops at the first part that is no number. A leading 'v' is dropped.
std::vector<int> version_of(std::string_view text);
/// GiB of "200Gi", "200G", "1Ti" or a bare number of bytes; nullopt if it is no quantity.
std::optional<double> gibibytes(std::string_view quantity);
/// "90", "90:00", "1:30:00", "2-12", "2-12:30:00" of Slurm; nullopt for UNLIMITED and variables.
std::optional<Seconds> slurm_time(std::string_view text);
/// The tightest of a NodePool's limits, in nodes of this type.
struct NodeLimit {
    std::string key;  ///< "cpu"
    Said said;        ///< its number
    std::int64_t nodes = 0;
};
std::optional<NodeLimit> node_limit(const Pool& p, const catalog::Instance& i);
/// ParallelCluster's spot queue of this name, or the first one if the name is empty.
const Pool* spot_queue(const Case& c, std::string_view partition);
std::string per_hour(std::optional<UsdPerSecond> rate);

}  // namespace trainyard::lint::facts
