// trainyard render: a plan as files for one tool. Touches no account.

#include <algorithm>

#include "command.hpp"
#include "command_catalog_input.hpp"
#include "trainyard/doc/node.hpp"
#include "trainyard/render/target.hpp"
#include "trainyard/sys/directory.hpp"
#include "trainyard/sys/environment.hpp"
#include "version.hpp"

namespace trainyard::cli {

namespace {

using render::Directory;
using render::Recipe;

std::vector<std::string> target_names() {
    std::vector<std::string> all;
    for (const render::TargetInfo& t : render::targets()) all.emplace_back(t.name);
    return all;
}

std::string target_list() {
    std::string s;
    for (const render::TargetInfo& t : render::targets())
        s += std::string(t.name) + ": " + std::string(t.summary) + ". ";
    return s;
}

/// Every file under a line with its name, so that a whole directory can be read or compared.
std::string as_text(const Directory& d) {
    std::string s;
    for (const render::File& f : d.files()) {
        s += (s.empty() ? "" : "\n") + std::string("==> ") + f.path +
             (f.executable ? " (executable)" : "") + " <==\n" + f.content;
    }
    return s;
}

doc::Node as_json(const Directory& d, const Recipe& recipe, const Args& args) {
    doc::Node files = doc::Node::list();
    for (const render::File& f : d.files()) {
        doc::Node n = doc::Node::map();
        n.set("path", f.path).set("bytes", static_cast<std::int64_t>(f.content.size()));
        n.set("sha256", render::sha256(f.content)).set("executable", f.executable);
        if (!args.given("output")) n.set("content", f.content);
        files.append(std::move(n));
    }
    doc::Node root = doc::Node::map();
    root.set("schema", "trainyard.rendering").set("schema_version", 1);
    root.set("target", args.text("target")).set("plan_sha256", recipe.plan_hash);
    if (args.given("output")) root.set("directory", args.text("output"));
    root.set("files", std::move(files));
    return root;
}

std::optional<Error> write(const Directory& d, const Args& args) {
    std::vector<sys::NewFile> files;
    for (const render::File& f : d.files()) files.push_back({f.path, f.content, f.executable});
    const auto mode = args.flag("force") ? sys::Existing::replace : sys::Existing::refuse;
    auto written = sys::write_directory(args.text("output"), files, mode);
    if (!written) return written.error();
    return std::nullopt;
}

Error usage(std::string what, std::string fix) {
    return {ErrorKind::usage,
            {{.where = {"trainyard render", 0, 0},
              .what = std::move(what),
              .why = {},
              .fix = std::move(fix)}}};
}

render::Options options_of(const Args& args) {
    render::Options o;
    if (args.given("framework")) o.framework = render::parse_framework(args.text("framework"));
    if (args.given("job-name")) o.job_name = args.text("job-name");
    if (args.given("checkpoint")) o.checkpoint = args.text("checkpoint");
    o.training_plan = args.flag("training-plan");
    o.openzfs = args.flag("openzfs");
    return o;
}

Result<Outcome> run_render(const Args& args, Io& io) {
    if (!args.given("target"))
        return usage("--target is missing", "one of: --target " + target_names().front() + " …");
    if (args.flag("force") && !args.given("output"))
        return usage("--force without --output", "say which directory: -o DIR");
    auto catalog = load_catalog(args, io.today);
    if (!catalog) return catalog.error();
    const std::string path = args.list("plan").front();
    auto text = sys::read_file(path);
    if (!text) return text.error();
    auto recipe =
        render::read_recipe(*text, path == "-" ? "standard input" : path, *catalog, kVersion);
    if (!recipe) return recipe.error();
    const auto target = render::parse_target(args.text("target"));
    auto directory = render::render(*target, *recipe, options_of(args));
    if (!directory) return directory.error();
    if (args.given("output")) {
        if (auto error = write(*directory, args)) return *std::move(error);
    }
    if (args.flag("json")) {
        io.out << doc::write_json(as_json(*directory, *recipe, args));
    } else if (!args.given("output")) {
        io.out << as_text(*directory);
    } else {
        for (const render::File& f : directory->files())
            io.out << args.text("output") << "/" << f.path << "\n";
    }
    return Outcome::done;
}

}  // namespace

Command render_command() {
    using Kind = Option::Kind;
    return {
        .name = "render",
        .summary = "Write a plan as files for a tool: cluster, job, README",
        .description =
            "Reads a plan.json (trainyard plan --json, or - for standard input) and writes a "
            "directory that the tool accepts: what to fill in, what it costs per hour and how to "
            "tear it down stand in its README.md. The same plan gives the same bytes. No account "
            "is touched. Without --output all files are printed. Targets: " +
            target_list(),
        .examples = {{"trainyard render plan.json --target parallelcluster -o cluster/",
                      "A Slurm cluster and the job for it"},
                     {"trainyard plan job.yaml --json | trainyard render - --target "
                      "parallelcluster",
                      "Look at the files first"}},
        .options = {{.name = "target",
                     .value_name = "TOOL",
                     .help = "what to write for",
                     .choices = target_names()},
                    {.name = "output",
                     .value_name = "DIR",
                     .help = "write here, into a new or empty directory",
                     .letter = "o"},
                    {.name = "force",
                     .kind = Kind::flag,
                     .help = "DIR may hold files: those of the same name are replaced"},
                    {.name = "framework",
                     .value_name = "NAME",
                     .help = "what runs the training; default: the simplest that can",
                     .choices = {"fsdp", "megatron", "deepspeed", "nxd"}},
                    {.name = "job-name",
                     .value_name = "NAME",
                     .help = "name of job and cluster; default: the plan's, made legal"},
                    {.name = "checkpoint",
                     .value_name = "S3",
                     .help = "where checkpoints go: s3://bucket/prefix"},
                    {.name = "training-plan",
                     .kind = Kind::flag,
                     .help = "sagemaker: buy a training plan where the plan has a Capacity Block"},
                    {.name = "openzfs",
                     .kind = Kind::flag,
                     .help = "also an OpenZFS file system for home directories and code"},
                    {.name = "json",
                     .kind = Kind::flag,
                     .help = "print JSON, schema trainyard.rendering"},
                    {.name = "catalog",
                     .value_name = "DIR",
                     .help = "replace the built-in catalog tables"},
                    {.name = "prices", .value_name = "FILE", .help = "price overrides (CSV)"}},
        .positionals = {{.name = "plan", .help = "plan.json, or - for standard input"}},
        .run = run_render};
}

}  // namespace trainyard::cli
