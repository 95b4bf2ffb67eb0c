#include "trainyard/render/target.hpp"

#include <algorithm>

#include "render_target.hpp"
#include "trainyard/base/contract.hpp"

namespace trainyard::render {

const std::vector<TargetInfo>& targets() {
    static const std::vector<TargetInfo> all = {
#define TRAINYARD_TARGET(id, name, summary) {Target::id, name, summary},
#include "trainyard/render/targets.def"
#undef TRAINYARD_TARGET
    };
    return all;
}

std::string_view to_string(Target t) {
    for (const TargetInfo& i : targets()) {
        if (i.target == t) return i.name;
    }
    return "";
}

std::optional<Target> parse_target(std::string_view s) {
    for (const TargetInfo& i : targets()) {
        if (i.name == s) return i.target;
    }
    return std::nullopt;
}

namespace {

Result<Directory> write_for(Target target, const Recipe& recipe, const Options& options) {
    switch (target) {
#define TRAINYARD_TARGET(id, name, summary) \
    case Target::id:                        \
        return render_##id(recipe, options);
#include "trainyard/render/targets.def"
#undef TRAINYARD_TARGET
    }
    TRAINYARD_ASSERT(false, "every target is listed in targets.def");
}

}  // namespace

Result<Directory> render(Target target, const Recipe& recipe, const Options& options) {
    if (options.training_plan && target != Target::sagemaker) {
        return refuse(recipe, "--training-plan is SageMaker's",
                      "everywhere else capacity is EC2's, which sells Capacity Blocks",
                      "--target sagemaker, or leave out --training-plan");
    }
    return write_for(target, recipe, options);
}

Error refuse(const Recipe& recipe, std::string what, std::string why, std::string fix) {
    return bad_input({.where = {recipe.plan_file, 0, 0},
                      .what = std::move(what),
                      .why = std::move(why),
                      .fix = std::move(fix)});
}

std::string head_comment(std::string_view mark, const Recipe& r, Target target) {
    const std::string m(mark);
    return m + " trainyard render --target " + std::string(to_string(target)) + ", trainyard " +
           r.tool_version + "\n" + m + " plan sha256:" + r.plan_hash + "\n";
}

}  // namespace trainyard::render
