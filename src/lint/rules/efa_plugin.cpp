// An EFA device plugin that does not serve the nodes.

#include <fmt/format.h>

#include <algorithm>

#include "facts.hpp"
#include "found.hpp"

namespace trainyard::lint::efa_plugin {

namespace {

bool is_plugin_image(std::string_view image) {
    return image.find("efa-k8s-device-plugin") != std::string_view::npos;
}

/// p6-b200 or p6-b300 among the pools or in the selector of the DaemonSet.
bool has_blackwell(const Case& c, const Job& job) {
    const auto is_new = [](const Said& t) { return t.text.starts_with("p6-"); };
    if (!job.types.empty()) return std::any_of(job.types.begin(), job.types.end(), is_new);
    return std::any_of(c.pools.begin(), c.pools.end(), [&](const Pool& p) {
        return std::any_of(p.types.begin(), p.types.end(), is_new);
    });
}

void check_version(const Case& c, const Job& job, const Said& image, Found& found) {
    const std::size_t colon = image.text.rfind(':');
    if (colon == std::string::npos || !has_blackwell(c, job)) return;
    const auto version = facts::version_of(std::string_view(image.text).substr(colon + 1));
    if (version.empty() || version >= std::vector<int>{0, 5, 10}) return;
    Finding& f = found.at(image, fmt::format("EFA device plugin {} with p6: it counts NVLink "
                                             "controllers as EFA devices",
                                             image.text.substr(colon + 1)));
    f.fix = "use 0.5.10 or newer";
}

bool tolerates(const doc::Node* tolerations, const Said& key) {
    for (const doc::Node* t : each(tolerations)) {
        const Said own = said(t, {"key"});
        const bool exists = said(t, {"operator"}).is("Exists");
        if ((!own && exists) || own.text == key.text) return true;
    }
    return false;
}

void check_taints(const Case& c, const doc::Node* tolerations, const Location& at, Found& found) {
    for (const Pool& p : c.pools) {
        if (p.form != Pool::Form::karpenter || !facts::accelerated(c, p.types)) continue;
        for (const doc::Node* taint : each(get(p.node, {"spec", "template", "spec", "taints"}))) {
            const Said key = said(taint, {"key"});
            if (!key || tolerates(tolerations, key)) continue;
            Finding& f = found.at(at, fmt::format("the EFA device plugin does not tolerate {}, the "
                                                  "taint of NodePool {}",
                                                  key.text, p.name));
            f.fix = fmt::format("add the toleration {{key: {}, operator: Exists}}", key.text);
            f.related.push_back({key.where, "the taint"});
            return;
        }
    }
}

void find(const Case& c, Found& found) {
    for (const Job& job : c.jobs) {
        if (!is_plugin_image(job.image.text)) continue;
        check_version(c, job, job.image, found);
        const doc::Node* tolerations = get(job.spec, "tolerations");
        const Location at = tolerations != nullptr ? key_of(*tolerations) : job.where;
        check_taints(c, tolerations, at, found);
    }
    for (const Document* d : c.of_kind(Kind::helm_values)) {
        const Said repository = said(&d->root, {"image", "repository"});
        const bool is_efa = contains(d->title, "efa") || contains(d->source->path, "efa") ||
                            is_plugin_image(repository.text);
        if (!is_efa) continue;
        const doc::Node* tolerations = get(&d->root, "tolerations");
        const Location at = tolerations != nullptr ? key_of(*tolerations) : d->head();
        check_taints(c, tolerations, at, found);
    }
}

}  // namespace

Rule rule() {
    return {.id = "EFA-PLUGIN",
            .severity = Severity::error,
            .title =
                "The EFA device plugin is too old for the type, or does not run on the "
                "tainted nodes",
            .applies = "DaemonSets and Helm values of aws-efa-k8s-device-plugin",
            .why =
                "without a working plugin no pod gets vpc.amazonaws.com/efa: pods wait "
                "for ever on nodes that are billed, or NCCL fails at random",
            .fix = "use version 0.5.10 or newer, and tolerate the taints of the GPU nodes",
            .source = "aws/sagemaker-hyperpod-cli#282; aws-samples/aws-efa-eks#3",
            .find = find};
}

}  // namespace trainyard::lint::efa_plugin
