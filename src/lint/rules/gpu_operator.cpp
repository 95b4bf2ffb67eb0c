// The GPU operator installs what the image already has.

#include <fmt/format.h>

#include "found.hpp"

namespace trainyard::lint::gpu_operator {

namespace {

/// An image of EKS that brings driver and toolkit is named in the case.
bool has_ready_image(const Case& c, const Document& values) {
    for (const std::string_view name : {"al2023", "bottlerocket"}) {
        if (contains(values.title, name)) return true;
        for (const Document* d : c.objects("EC2NodeClass")) {
            for (const doc::Node* t : each(get(&d->root, {"spec", "amiSelectorTerms"}))) {
                if (said(t, {"alias"}).text.starts_with(name)) return true;
            }
        }
        for (const Pool& p : c.pools) {
            const Said family = p.form == Pool::Form::eksctl ? said(p.node, {"amiFamily"}) : Said{};
            const Said type = said(p.node, {"ami_type"});
            const std::string_view full = name == "al2023" ? "AmazonLinux2023" : "Bottlerocket";
            if (family.text == full || contains(type.text, name)) return true;
        }
    }
    return false;
}

void find(const Case& c, Found& found) {
    for (const Document* d : c.of_kind(Kind::helm_values)) {
        for (const std::string_view part : {"driver", "toolkit"}) {
            const doc::Node* enabled = get(&d->root, {part, "enabled"});
            if (!is_true(enabled)) continue;
            const bool is_sure = has_ready_image(c, *d);
            const bool is_operator = is_sure || contains(d->title, "gpu-operator");
            if (!is_operator) continue;
            Finding& f = found.at(said(enabled),
                                  fmt::format("{}.enabled: true{}", part,
                                              is_sure ? " on an image that already has it" : ""));
            f.edits.push_back({enabled->where, "true", "false"});
            if (!is_sure) {
                f.severity = Severity::note;
                f.needs_account = true;
            }
        }
    }
}

}  // namespace

Rule rule() {
    return {.id = "GPU-OPERATOR",
            .severity = Severity::error,
            .title = "The GPU Operator installs driver or toolkit on images that carry them",
            .applies = "Helm values of the GPU Operator",
            .why =
                "on AL2023 and Bottlerocket NVIDIA images the operator's driver pods "
                "crash or find no image: the GPUs never appear while the nodes are "
                "billed",
            .fix = "driver.enabled: false, toolkit.enabled: false",
            .source =
                "NVIDIA/gpu-operator#1492; NVIDIA GPU Operator documentation, Amazon "
                "EKS",
            .find = find};
}

}  // namespace trainyard::lint::gpu_operator
