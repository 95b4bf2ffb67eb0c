// Checkpoints on storage that dies with the node.

#include <fmt/format.h>

#include "facts.hpp"
#include "found.hpp"
#include "launch.hpp"

namespace trainyard::lint::ckpt_local {

namespace {

std::string_view lost_place(std::string_view path) {
    static constexpr std::pair<std::string_view, std::string_view> kPlaces[] = {
        {"/tmp", "the root disk of one node"},
        {"/var/tmp", "the root disk of one node"},
        {"/dev/shm", "the memory of one node"},
        {"/scratch", "the local disk of one node"},
        {"/local_scratch", "the instance store of one node"},
        {"/mnt/nvme", "the instance store of one node"},
        {"/opt/dlami/nvme", "the instance store of one node"},
        {"/mnt/k8s-disks", "the instance store of one node"}};
    for (const auto& [start, what] : kPlaces) {
        const bool is_below =
            path.starts_with(start) && (path.size() == start.size() || path[start.size()] == '/');
        if (is_below) return what;
    }
    return {};
}

std::string_view folder_of(std::string_view path) {
    const std::size_t slash = path.rfind('/');
    return slash == std::string_view::npos ? std::string_view{} : path.substr(0, slash);
}

/// A copy away from the node is made in the script, or in one beside it.
bool is_copied(const Case& c, const Document& d) {
    for (const Document& other : c.documents) {
        if (folder_of(other.source->path) != folder_of(d.source->path)) continue;
        if (&other != &d && other.kind != Kind::shell && other.kind != Kind::kubernetes) continue;
        for (const std::string_view mark :
             {"aws s3", "s5cmd", "rsync", "trainyard run", "trainyard store"}) {
            if (other.text.find(mark) != std::string_view::npos) return true;
        }
    }
    return false;
}

void find(const Case& c, Found& found) {
    for (const Job& job : c.jobs) {
        if (!job.is_training || job.document == nullptr) continue;
        const Said dir = facts::checkpoint_dir(job.words);
        if (!dir) continue;
        const std::string path = resolved(*job.document, dir.text);
        const std::string_view what = lost_place(path);
        if (what.empty() || is_copied(c, *job.document)) continue;
        if (job.form == Job::Form::pod && facts::volume_at(job, path) != nullptr) continue;
        if (job.form == Job::Form::docker && contains(job.document->text, ":" + path)) continue;
        Finding& f =
            found.at(Said{path, dir.where}, fmt::format("checkpoints go to {}, {}", path, what));
        if (job.is_multi_node()) f.why += "; the other nodes do not see it, either";
    }
}

}  // namespace

Rule rule() {
    return {.id = "CKPT-LOCAL",
            .severity = Severity::warning,
            .title = "Checkpoints on storage that dies with the node",
            .applies = "sbatch scripts, pods, docker commands that train",
            .why =
                "a node that fails or is taken back takes the checkpoints with it: the run starts "
                "from step 0 and all its hours are paid again",
            .fix = "save to shared storage (FSx, S3), or copy every checkpoint there",
            .source = "EC2 user guide, instance store lifetime; docs/model (Daly's interval)",
            .find = find};
}

}  // namespace trainyard::lint::ckpt_local
