// A plan.json in, every target out: no plan may crash one, what a target writes is well-formed and
// the same twice, and a refusal says what and why.

#include <string>

#include "fuzz_text.hpp"
#include "trainyard/base/text.hpp"
#include "trainyard/doc/node.hpp"
#include "trainyard/render/target.hpp"

namespace {

using namespace trainyard;

void check_file(const render::File& file) {
    TRAINYARD_ASSERT(!file.content.empty() && is_valid_utf8(file.content), "files are UTF-8 text");
    TRAINYARD_ASSERT(file.content.find('\0') == std::string::npos, "no file holds a NUL");
    if (file.path.ends_with(".json")) {
        TRAINYARD_ASSERT(doc::parse_json(file.content, file.path).has_value(), "JSON parses");
    } else if (!file.path.ends_with(".yaml")) {
        TRAINYARD_ASSERT(file.content.ends_with('\n'), "text ends with a line end");
    }
}

void check_target(render::Target target, const render::Recipe& recipe,
                  const render::Options& options) {
    const auto written = render::render(target, recipe, options);
    if (!written) {
        for (const Diagnostic& d : written.error().diagnostics)
            TRAINYARD_ASSERT(!d.what.empty() && !(d.why.empty() && d.fix.empty()),
                             "a refusal says what, and why or what instead");
        TRAINYARD_ASSERT(!written.error().diagnostics.empty(), "a refusal says something");
        return;
    }
    for (const render::File& file : written->files()) check_file(file);
    const auto again = render::render(target, recipe, options);
    TRAINYARD_ASSERT(again.has_value() && again->files().size() == written->files().size(),
                     "the same plan gives the same files");
    for (const render::File& file : written->files()) {
        const render::File* same = again->find(file.path);
        TRAINYARD_ASSERT(same != nullptr && same->content == file.content,
                         "the same plan gives the same bytes");
    }
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): the name is libFuzzer's
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const auto catalog = catalog::Catalog::load(catalog::Catalog::embedded_tables());
    const auto recipe =
        render::read_recipe(fuzz::as_text(data, size), "plan.json", *catalog, "0.0.0");
    if (!recipe) {
        fuzz::expect_explained(recipe.error());
        return 0;
    }
    render::Options options;
    for (const render::TargetInfo& t : render::targets()) check_target(t.target, *recipe, options);
    // The name of the plan as what a user types: taken as it is, or refused.
    options.job_name = recipe->name;
    options.checkpoint = "s3://bucket/" + recipe->name;
    options.training_plan = true;
    for (const render::TargetInfo& t : render::targets()) check_target(t.target, *recipe, options);
    return 0;
}
