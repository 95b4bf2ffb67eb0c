// trainyard predict run.yaml: one given configuration, with its breakdown.

#include <fmt/format.h>

#include "command.hpp"
#include "command_calibrate_input.hpp"
#include "command_catalog_input.hpp"
#include "command_plan_input.hpp"
#include "command_predict_input.hpp"
#include "predict_report.hpp"
#include "trainyard/base/text.hpp"
#include "trainyard/sys/environment.hpp"
#include "trainyard/workload/job.hpp"

namespace trainyard::cli {

namespace {

constexpr std::size_t kMaxInput = std::size_t{16} << 20U;

Result<doc::Node> read_node(const std::string& path) {
    auto text = sys::read_file(path, kMaxInput);
    if (!text) return text.error();
    return doc::parse_any(*text, path);
}

Result<workload::Run> read_run_file(const std::string& path) {
    auto node = read_node(path);
    if (!node) return node.error();
    if (is_hf_config(*node)) {
        Diagnostic d;
        d.where = {path, 0, 0};
        d.what = "this is a model's config.json, not a run";
        d.why = "predict needs the model, its training and the machine";
        d.fix = "write a run.yaml with `model: {config: " + path +
                "}`, `sequence`, `parallel` and `instance` (docs/reference/run.md)";
        return bad_input(std::move(d));
    }
    const std::size_t slash = path.rfind('/');
    const std::string folder = slash == std::string::npos ? "" : path.substr(0, slash + 1);
    return workload::read_run(*node, [&folder](const std::string& file) {
        return read_node(file.starts_with("/") ? file : folder + file);
    });
}

Error unknown(const workload::Run& run, const char* key, std::string what, std::string fix) {
    return bad_input(
        Diagnostic{Severity::error, run.place({key}), std::move(what), "", std::move(fix)});
}

/// What is left after the laws and the device count were checked concerns the precision.
Error placed(Error e, const workload::Run& run) {
    for (Diagnostic& d : e.diagnostics) {
        if (d.where.line == 0) d.where = run.place({"precision", "instance", "accelerator"});
    }
    return e;
}

bool counts_cores(const std::string& accelerator) { return accelerator == "Trn1"; }

/// The cluster a run names by instance type, or by accelerator and count.
Result<perf::Cluster> cluster_of_run(const workload::Run& run, const catalog::Catalog& catalog) {
    if (!run.instance.empty()) {
        const catalog::Instance* instance = catalog.instance(run.instance);
        if (instance == nullptr) {
            return unknown(run, "instance", "unknown instance type \"" + run.instance + '"',
                           "see `trainyard catalog`");
        }
        const int chips = std::max(1, run.accelerators);
        const int per_node = std::max(1, instance->accelerators);
        return perf::cluster_of(catalog, *instance, (chips + per_node - 1) / per_node);
    }
    const catalog::Accelerator* a = catalog.accelerator(run.accelerator);
    if (a == nullptr) {
        return unknown(run, "accelerator", "unknown accelerator \"" + run.accelerator + '"',
                       "see `trainyard catalog accelerators`");
    }
    perf::Cluster c;
    c.accelerator = a;
    c.accelerators = run.accelerators;
    c.accelerators_per_node = std::min(run.accelerators_per_node, run.accelerators);
    c.intra_link = a->link;
    c.intra_bandwidth = a->link_bandwidth.value_or(24 * kGBPerSecond);
    if (c.nodes() > 1) {
        if (!run.inter_node_gbit_per_s) {
            return unknown(run, "accelerators", "several nodes, but no network bandwidth",
                           "add inter_node_gbit_per_s, per node and direction");
        }
        c.inter = {perf::Fabric::infiniband, *run.inter_node_gbit_per_s * kGbitPerSecond};
    }
    return c;
}

Result<workload::Run> complete(workload::Run run, const catalog::Catalog& catalog) {
    int per_node = run.accelerators_per_node;
    std::string accelerator = run.accelerator;
    if (const catalog::Instance* i =
            run.instance.empty() ? nullptr : catalog.instance(run.instance)) {
        per_node = std::max(1, i->accelerators);
        accelerator = i->accelerator;
    }
    return workload::complete_run(std::move(run), per_node, counts_cores(accelerator) ? 2 : 1);
}

}  // namespace

Result<PredictedRun> predict_file(const std::string& path, const catalog::Catalog& catalog) {
    auto read = read_run_file(path);
    if (!read) return read.error();
    auto run = complete(std::move(*read), catalog);
    if (!run) return run.error();
    auto cluster = cluster_of_run(*run, catalog);
    if (!cluster) return cluster.error();
    if (!run->training.stack.empty()) {
        if (auto wrong = stack_mistake(run->training.stack, run->place({"stack"})))
            return bad_input(*wrong);
    }
    const workload::Training t = perf::merge_neuron_cores(run->training, cluster->accelerators);
    auto prediction = perf::predict(run->model, t, *cluster);
    if (!prediction) return placed(prediction.error(), *run);
    return PredictedRun{std::move(*run), t, *cluster, std::move(*prediction)};
}

namespace {

Result<Outcome> run_predict(const Args& args, Io& io) {
    auto catalog = load_catalog(args, io.today);
    if (!catalog) return catalog.error();
    auto found = predict_file(args.list("run").front(), *catalog);
    if (!found) return found.error();
    auto calibrations = load_calibrations(args);
    if (!calibrations) return calibrations.error();
    const perf::Calibration* mine = calibrations->find(perf::calibration_key(
        found->run.model, found->training, *found->cluster.accelerator, found->run.instance));
    if (mine != nullptr) perf::scale_step(found->prediction, mine->factor);
    const PredictReport report{found->run, found->training, found->cluster, found->prediction,
                               mine};
    if (args.flag("json")) {
        io.out << doc::write_json(predict_json(report));
    } else {
        io.out << predict_text(report, io);
    }
    const std::vector<std::string> fail_on = args.list("fail-on");
    const bool no = !fail_on.empty() && !found->prediction.memory.fits();
    return no ? Outcome::answered_no : Outcome::done;
}

}  // namespace

Command predict_command() {
    return {.name = "predict",
            .summary = "Step time, tokens/s, MFU and peak memory of one given configuration",
            .examples = {{"trainyard predict examples/run-70b-p5.yaml",
                          "where the time and the memory go"},
                         {"trainyard predict run.yaml --json", "the same for programs"}},
            .options = {{.name = "fail-on",
                         .kind = Option::Kind::list,
                         .value_name = "LIST",
                         .help = "exit 1 on these answers",
                         .choices = {"does-not-fit"}},
                        {.name = "json",
                         .kind = Option::Kind::flag,
                         .help = "print JSON, schema trainyard.prediction"},
                        calibration_option(),
                        {.name = "catalog",
                         .value_name = "DIR",
                         .help = "replace the built-in catalog tables"},
                        {.name = "prices", .value_name = "FILE", .help = "price overrides (CSV)"}},
            .positionals = {{.name = "run", .help = "run.yaml (see docs/reference/run.md)"}},
            .run = run_predict};
}

}  // namespace trainyard::cli
