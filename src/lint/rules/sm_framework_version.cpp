// No image: neither one nor a version to find one.

#include <fmt/format.h>

#include "found.hpp"

namespace trainyard::lint::sm_framework_version {

namespace {

void find(const Case& c, Found& found) {
    for (const Training& t : c.trainings) {
        if (t.form != Training::Form::estimator || t.is_open || t.image) continue;
        const std::string name = said(t.node, {"()"}).text;
        if (name.ends_with("Estimator")) {
            found.at(t.where, "an Estimator without image_uri").fix = "image_uri=\"…\"";
        } else if (!t.framework_version || !t.py_version) {
            found.at(t.where, fmt::format("{} without {}", name,
                                          t.framework_version ? "py_version"
                                          : t.py_version      ? "framework_version"
                                                         : "framework_version and py_version"));
        }
    }
}

}  // namespace

Rule rule() {
    return {.id = "SM-FRAMEWORK-VERSION",
            .severity = Severity::error,
            .title = "An estimator without framework_version and py_version",
            .applies = "SageMaker Python, SDK 2",
            .why = "the SDK cannot choose an image and refuses the estimator",
            .fix = "framework_version=\"2.6\", py_version=\"py312\", or image_uri",
            .source = "SageMaker Python SDK 2, Framework estimators",
            .holds_for = "sagemaker 2.x",
            .find = find};
}

}  // namespace trainyard::lint::sm_framework_version
