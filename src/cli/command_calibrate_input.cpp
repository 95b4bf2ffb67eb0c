#include "command_calibrate_input.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "command_predict_input.hpp"
#include "trainyard/base/text.hpp"
#include "trainyard/doc/node.hpp"
#include "trainyard/doc/reader.hpp"
#include "trainyard/render/recipe.hpp"
#include "trainyard/sys/environment.hpp"

namespace trainyard::cli {

namespace {

using doc::MapReader;
using doc::Node;

constexpr std::size_t kMaxInput = std::size_t{16} << 20U;

Error wrong(const Node& at, std::string what, std::string why, std::string fix) {
    return bad_input(
        Diagnostic{Severity::error, at.where, std::move(what), std::move(why), std::move(fix)});
}

/// `plan`: a plan.json, or what a record keeps of it.
Result<Predicted> predict_plan(const Node& plan, const catalog::Catalog& catalog) {
    auto run = render::read_planned_run(plan);
    if (!run) return run.error();
    const Node& at = *plan.find("chosen");
    const catalog::Instance* instance = catalog.instance(run->instance);
    if (instance == nullptr)
        return wrong(at, "unknown instance type \"" + printable(run->instance, 60) + '"', "",
                     "see `trainyard catalog`");
    if (run->model.opaque_params)
        return wrong(at, "the shape of this model is not known", "its step time is not predicted",
                     "name a run.yaml with the model's shape");
    auto cluster = perf::cluster_of(catalog, *instance, run->nodes);
    if (!cluster) return cluster.error();
    // Independent runs do not fill their node.
    const int devices = run->training.parallel.devices();
    if (devices < cluster->accelerators) cluster->accelerators = devices;
    const workload::Training t = perf::merge_neuron_cores(run->training, cluster->accelerators);
    auto prediction = perf::predict(run->model, t, *cluster);
    if (!prediction) {
        Error error = prediction.error();
        for (Diagnostic& d : error.diagnostics) {
            if (d.where.line == 0) d.where = at.where;
        }
        return error;
    }
    return Predicted{perf::calibration_key(run->model, t, *cluster->accelerator, run->instance),
                     prediction->step.total,
                     perf::error_band(*cluster->accelerator, run->model, t.stack),
                     fmt::format("{} on {}x {}", run->model.name, run->nodes, run->instance)};
}

Result<Predicted> predict_run(const std::string& file, const catalog::Catalog& catalog) {
    auto found = predict_file(file, catalog);
    if (!found) return found.error();
    if (found->run.instance.empty()) {
        return bad_input(Diagnostic{Severity::error, found->run.place({"accelerator"}),
                                    "a calibration needs an instance type",
                                    "it holds for a model family on one type",
                                    "write `instance` and `nodes` in place of `accelerator`"});
    }
    return Predicted{
        perf::calibration_key(found->run.model, found->training, *found->cluster.accelerator,
                              found->run.instance),
        found->prediction.step.total,
        perf::error_band(*found->cluster.accelerator, found->run.model, found->training.stack),
        fmt::format("{} on {}x {}", found->run.model.name, found->cluster.nodes(),
                    found->run.instance)};
}

/// The first span of each start is left out: caches fill, kernels are compiled.
std::vector<perf::StepSpan> read_spans(const Node& list, std::vector<Diagnostic>& out) {
    struct Span {
        std::int64_t stretch = 0;
        perf::StepSpan span;
    };
    std::vector<Span> all;
    for (const Node& node : list.items()) {
        if (!node.is(Node::Kind::map)) {
            out.push_back({.where = node.where, .what = "a span is a map", .why = {}, .fix = {}});
            continue;
        }
        MapReader r(node, out);
        constexpr std::int64_t kMost = std::int64_t{1} << 60U;
        const std::int64_t first = r.integer("first", {.min = -1, .max = kMost});
        const std::int64_t last = r.integer("last", {.min = first + 1, .max = kMost});
        const auto time = r.optional_number("time_s", {.min = 1e-6, .max = 1e9});
        if (!time) r.error("time_s", "time_s is missing");
        all.push_back({r.integer("stretch", {.min = 0, .max = kMost}),
                       {last - first, time.value_or(1) * kSecond}});
    }
    std::vector<perf::StepSpan> kept;
    for (std::size_t i = 1; i < all.size(); ++i) {
        if (all[i].stretch == all[i - 1].stretch) kept.push_back(all[i].span);
    }
    return kept;
}

Result<Record> read_record(const Node& root, const std::string& file,
                           const catalog::Catalog& catalog) {
    const Node* version = root.find("schema_version");
    if (version == nullptr || version->text() != "1")
        return wrong(version == nullptr ? root : *version, "schema_version is not 1", "",
                     "read it with the version of trainyard that wrote it");
    const Node* spans = root.find("spans");
    if (spans == nullptr || !spans->is(Node::Kind::list))
        return wrong(root, "\"spans\" is no list", "", "give the record.json of a run's --state");
    std::vector<Diagnostic> out;
    Record record{file, root.where, read_spans(*spans, out), {}};
    if (!out.empty()) return bad_input(std::move(out));
    if (const Node* plan = root.find("plan"); plan != nullptr && plan->find("chosen") != nullptr) {
        auto predicted = predict_plan(*plan, catalog);
        if (!predicted) return predicted.error();
        record.predicted = std::move(*predicted);
    }
    return record;
}

}  // namespace

Option calibration_option() {
    return {.name = "calibration",
            .value_name = "FILE",
            .help = "what your own runs say about the step time (trainyard calibrate)"};
}

Result<perf::Calibrations> load_calibrations(const Args& args) {
    if (!args.given("calibration")) return perf::Calibrations();
    const std::string file = args.text("calibration");
    auto text = sys::read_file(file, kMaxInput);
    if (!text) return text.error();
    return perf::Calibrations::parse(*text, file);
}

Result<CalibrateInput> calibrate_input(const std::vector<std::string>& files,
                                       const catalog::Catalog& catalog) {
    CalibrateInput in;
    for (const std::string& file : files) {
        auto text = sys::read_file(file, kMaxInput);
        if (!text) return text.error();
        auto root = doc::parse_any(*text, file);
        if (!root) return root.error();
        const Node* schema = root->find("schema");
        const std::string name = schema == nullptr ? "" : schema->text();
        if (name == "trainyard.record") {
            auto record = read_record(*root, file, catalog);
            if (!record) return record.error();
            in.records.push_back(std::move(*record));
            continue;
        }
        if (in.named)
            return wrong(*root, "this is the second plan or run", "",
                         "name one; the other files are records");
        auto named = name == "trainyard.plan" && root->find("chosen") != nullptr
                         ? predict_plan(*root, catalog)
                         : predict_run(file, catalog);
        if (!named) return named.error();
        in.named = std::move(*named);
    }
    return in;
}

}  // namespace trainyard::cli
