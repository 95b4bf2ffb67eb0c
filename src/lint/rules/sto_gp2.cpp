// Volumes of the old general-purpose type.

#include <fmt/format.h>

#include "facts.hpp"
#include "found.hpp"

namespace trainyard::lint::sto_gp2 {

namespace {

/// The volume's size beside its type, in GB.
std::optional<double> size_of(const doc::Node& volume) {
    for (const std::string_view key : {"volume_size", "volumeSize", "VolumeSize", "Size", "size"}) {
        const Said size = said(&volume, {key});
        if (!size) continue;
        if (const auto plain = whole_number(size.text)) return static_cast<double>(*plain);
        if (const auto gib = facts::gibibytes(size.text)) return gib;
    }
    return std::nullopt;
}

/// Dollars per second that gp3 would save for so many GB.
std::optional<UsdPerSecond> saving(const Case& c, std::optional<double> gigabytes) {
    const auto old = c.catalog->service("ebs.gp2.gb_month", "us-east-1");
    const auto now = c.catalog->service("ebs.gp3.gb_month", "us-east-1");
    if (!gigabytes || *gigabytes <= 0 || !old || !now) return std::nullopt;
    return (old->value - now->value) * *gigabytes * kUsd / kMonth;
}

void report(const Case& c, const doc::Node& volume, const Said& type, Found& found) {
    const auto size = size_of(volume);
    Finding& f = found.at(
        type, size ? fmt::format("a gp2 volume of {:.0f} GB", *size) : std::string("a gp2 volume"));
    f.waste = saving(c, size);
    f.edits.push_back({type.where, "gp2", "gp3"});
}

void search(const Case& c, const doc::Node& root, Found& found) {
    std::vector<const doc::Node*> open = {&root};
    while (!open.empty()) {
        const doc::Node& n = *open.back();
        open.pop_back();
        if (n.is(doc::Node::Kind::list)) {
            for (const doc::Node& item : n.items()) open.push_back(&item);
        }
        if (!n.is(doc::Node::Kind::map)) continue;
        for (const auto& [key, value] : n.members()) {
            const bool is_type = is_one_of(key, {"volume_type", "VolumeType", "volumeType"});
            if (is_type && said(&value).is("gp2")) {
                report(c, n, said(&value), found);
            } else {
                open.push_back(&value);
            }
        }
    }
}

void find(const Case& c, Found& found) {
    for (const Document& d : c.documents) {
        const bool is_node_class = d.kind == Kind::kubernetes && d.object_kind == "EC2NodeClass";
        if (is_node_class || d.kind == Kind::parallelcluster || d.kind == Kind::eksctl ||
            d.kind == Kind::launch_template) {
            search(c, d.root, found);
        }
        const Said parameter = said(&d.root, {"parameters", "type"});
        if (d.object_kind == "StorageClass" && parameter.is("gp2")) {
            report(c, *get(&d.root, "parameters"), parameter, found);
        }
    }
    for (const Resource& r : c.resources) {
        const Said type = said(r.body, {"type"});
        if (r.type == "aws_ebs_volume" && type.is("gp2")) report(c, *r.body, type, found);
        if (r.body != nullptr) search(c, *r.body, found);
    }
}

}  // namespace

Rule rule() {
    return {.id = "STO-GP2",
            .severity = Severity::note,
            .title = "A gp2 volume where gp3 costs less",
            .applies =
                "ParallelCluster, eksctl, EC2NodeClass, StorageClass, launch templates, "
                "Terraform and its plan, CloudFormation",
            .why =
                "gp3 costs a fifth less by the gigabyte, and its 3,000 IOPS and 125 MB/s do not "
                "depend on the size or on burst credits, which a loading job empties",
            .fix = "gp3",
            .source = "Amazon EBS volume types; data/catalog/services.csv",
            .find = find};
}

}  // namespace trainyard::lint::sto_gp2
