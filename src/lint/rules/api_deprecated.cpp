// Versions and fields that are gone.

#include <fmt/format.h>

#include "found.hpp"
#include "trainyard/base/text.hpp"

namespace trainyard::lint::api_deprecated {

namespace {

void say(const Location& at, std::string text, std::string what, std::string fix,
         std::string versions, Found& found) {
    Finding& f = found.at(Said{std::move(text), at}, std::move(what));
    f.fix = std::move(fix);
    f.holds_for = std::move(versions);
}

void check_karpenter(const Document& d, Found& found) {
    const Said api = said(&d.root, {"apiVersion"});
    if (is_one_of(api.text, {"karpenter.k8s.aws/v1beta1", "karpenter.sh/v1beta1"})) {
        const std::string group = api.text.substr(0, api.text.find('/'));
        say(api.where, api.text, api.text + " is no longer served",
            group + "/v1" +
                (d.object_kind == "EC2NodeClass" ? " (amiSelectorTerms is required there)"
                                                 : " (nodeClassRef needs group, kind and name)"),
            "Karpenter 1.1 and later; 1.0 serves both", found);
    } else if (is_one_of(d.object_kind, {"Provisioner", "AWSNodeTemplate"}) &&
               api.text.starts_with("karpenter.")) {
        say(api.where, api.text, d.object_kind + " was replaced in Karpenter 0.32",
            d.object_kind == "Provisioner" ? "write a NodePool" : "write an EC2NodeClass",
            "Karpenter 0.32 and later; gone in 1.0", found);
    }
}

void check_trainer(const Document& d, Found& found) {
    if (!d.api.starts_with("trainer.kubeflow.org/")) return;
    const doc::Node* spec = get(&d.root, "spec");
    if (const doc::Node* overrides = get(spec, "podTemplateOverrides")) {
        say(key_of(*overrides), "podTemplateOverrides", "podTemplateOverrides was removed",
            "write runtimePatches, each with a manager",
            "refused by Kubeflow Trainer 2.2 and later; valid in 2.0 and 2.1", found);
    }
    if (const doc::Node* overrides = get(spec, "podSpecOverrides")) {
        say(key_of(*overrides), "podSpecOverrides", "podSpecOverrides was removed",
            "write runtimePatches, each with a manager",
            "refused by Kubeflow Trainer 2.1 and later; valid in 2.0", found);
    }
    for (const std::string_view field : {"numProcPerNode", "elasticPolicy"}) {
        if (const doc::Node* gone = get(spec, {"mlPolicy", "torch", field})) {
            say(key_of(*gone), std::string(field),
                fmt::format("mlPolicy.torch.{} was removed", field),
                "the number of processes follows the GPUs of the node; set it in the TrainJob",
                "refused by Kubeflow Trainer 2.2 and later; valid in 2.1", found);
        }
    }
}

struct Requirement {
    Said said;
    bool is_v2 = false;
};

/// "sagemaker>=2.200" in requirements, pip lines and comments of the case.
std::optional<Requirement> requirement(const Case& c) {
    for (const Document& d : c.documents) {
        int line = d.line;
        for (std::string_view row : split(d.text, '\n')) {
            const std::size_t at = row.find("sagemaker");
            const std::size_t end = at + 9;
            const bool is_one =
                at != std::string_view::npos && end < row.size() &&
                std::string_view("<>=~!").find(row[end]) != std::string_view::npos &&
                !(row[end] == '=' && (end + 1 >= row.size() || row[end + 1] != '='));
            if (is_one) {
                const std::string_view rest = row.substr(end);
                const bool is_v2 = rest.find("<3") != std::string_view::npos ||
                                   rest.starts_with("==2") || rest.starts_with("~=2");
                return Requirement{{std::string(trim(row.substr(at))),
                                    {d.source->path, line, static_cast<int>(at) + 1}},
                                   is_v2};
            }
            ++line;
        }
    }
    return std::nullopt;
}

bool is_v2_import(std::string_view line) {
    for (const std::string_view module :
         {"sagemaker.pytorch", "sagemaker.huggingface", "sagemaker.tensorflow",
          "sagemaker.estimator", "sagemaker.inputs", "sagemaker.mxnet", "sagemaker.debugger"}) {
        if (line.find(module) != std::string_view::npos) return true;
    }
    return false;
}

/// sagemaker.train and sagemaker.core came with SDK 3.
void check_v3_import(const Case& c, const doc::Node& import, Found& found) {
    const bool is_v3 = import.text().find("sagemaker.train ") != std::string::npos ||
                       import.text().ends_with("sagemaker.train");
    if (!is_v3) return;
    const auto wanted = requirement(c);
    if (!wanted || !wanted->is_v2) return;
    Finding& f = found.at(Said{import.text(), import.where},
                          fmt::format("code of SDK 3, but \"{}\" installs SDK 2, which has no "
                                      "such module",
                                      wanted->said.text));
    f.fix = "sagemaker>=3, or sagemaker.modules.train in SDK 2";
    f.holds_for = "valid for sagemaker 3.0 and later, fails in 2.x";
    f.related.push_back({wanted->said.where, "the requirement"});
}

void check_sagemaker(const Case& c, const Document& d, Found& found) {
    for (const doc::Node* import : each(get(&d.root, "imports"))) {
        check_v3_import(c, *import, found);
        if (!is_v2_import(import->text())) continue;
        const auto wanted = requirement(c);
        if (wanted && wanted->is_v2) return;
        Finding& f = found.at(
            Said{import->text(), import->where},
            wanted
                ? fmt::format("code of SDK 2, but \"{}\" installs SDK 3, which has no such module",
                              wanted->said.text)
                : "code of SDK 2: this module does not exist in SDK 3");
        f.fix = "pin sagemaker<3, or port to sagemaker.train.ModelTrainer";
        f.holds_for = "valid for sagemaker 2.x, fails in 3.0 and later";
        if (wanted) {
            f.related.push_back({wanted->said.where, "the requirement has no upper bound"});
        } else {
            f.severity = Severity::note;
        }
        return;
    }
}

void find(const Case& c, Found& found) {
    for (const Document& d : c.documents) {
        if (d.kind == Kind::kubernetes) {
            check_karpenter(d, found);
            check_trainer(d, found);
        }
        if (d.kind == Kind::sagemaker_python) check_sagemaker(c, d, found);
    }
}

}  // namespace

Rule rule() {
    return {.id = "API-DEPRECATED",
            .severity = Severity::error,
            .title = "An API version or a field that newer releases refuse",
            .applies = "Karpenter and Kubeflow objects, SageMaker Python",
            .why =
                "the object is refused or the import fails, often after an upgrade that"
                " nobody connected with it",
            .fix = "port it to the version that is served",
            .source =
                "Karpenter upgrade guide; kubeflow/trainer CHANGELOG; SageMaker Python "
                "SDK 3 migration",
            .find = find};
}

}  // namespace trainyard::lint::api_deprecated
