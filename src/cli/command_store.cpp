// trainyard store put|get|ls|verify|prune|watch: the table, and opening a store.

#include <fmt/format.h>

#include <algorithm>
#include <thread>

#include "command_store_parts.hpp"
#include "trainyard/aws/credential_chain.hpp"
#include "trainyard/aws/s3.hpp"
#include "trainyard/base/text.hpp"
#include "trainyard/store/directory_store.hpp"
#include "trainyard/sys/environment.hpp"
#include "version.hpp"

namespace trainyard::cli {

Error store_mistake(std::string where, std::string what, std::string fix) {
    return bad_input(Diagnostic{.where = {std::move(where), 0, 0},
                                .what = std::move(what),
                                .why = {},
                                .fix = std::move(fix)});
}

namespace {

struct Action {
    std::string_view name;
    std::size_t places;  ///< paths it takes
    Result<Outcome> (*run)(const Args& args, Io& io);
};
constexpr Action kActions[] = {{"put", 2, run_store_put},     {"get", 2, run_store_get},
                               {"ls", 1, run_store_ls},       {"verify", 1, run_store_verify},
                               {"prune", 1, run_store_prune}, {"watch", 2, run_store_watch}};

Result<Outcome> run_store(const Args& args, Io& io) {
    const std::string action = args.text("action");
    std::vector<std::string> names;
    for (const Action& known : kActions) {
        names.emplace_back(known.name);
        if (known.name != action) continue;
        if (args.list("place").size() != known.places) {
            return Error{ErrorKind::usage,
                         {{.where = {"trainyard store", 0, 0},
                           .what = fmt::format("{} takes {}", action,
                                               known.places == 1 ? "a store" : "two places"),
                           .why = {},
                           .fix = "see trainyard store --help"}}};
        }
        return known.run(args, io);
    }
    const auto near = nearest(action, names);
    return Error{ErrorKind::usage,
                 {{.where = {"trainyard store", 0, 0},
                   .what = "\"" + printable(action, 60) +
                           "\" is not one of put, get, ls, verify, prune, watch",
                   .why = {},
                   .fix = near ? "did you mean " + *near + "?" : "trainyard store ls STORE"}}};
}

/// "s3://bucket/some/prefix" as the bucket and "some/prefix/".
Result<std::unique_ptr<aws::ObjectStore>> open_bucket(const Args& args, std::string_view where,
                                                      std::string& prefix) {
    const std::size_t slash = where.find('/');
    aws::S3Settings settings;
    settings.bucket = std::string(where.substr(0, slash));
    if (slash != std::string_view::npos) prefix = std::string(where.substr(slash + 1));
    while (prefix.ends_with('/')) prefix.pop_back();
    if (!prefix.empty()) prefix += "/";
    settings.endpoint = args.text("endpoint-url");
    if (settings.endpoint.empty()) {
        settings.endpoint = sys::get_env("AWS_ENDPOINT_URL_S3")
                                .value_or(sys::get_env("AWS_ENDPOINT_URL").value_or(""));
    }
    aws::ChainSettings chain;
    chain.profile = args.text("profile");
    settings.region = args.text("region");
    if (settings.region.empty()) {
        settings.region = aws::configured_region(chain).value_or(chain.region);
    }
    chain.region = settings.region;
    return aws::open_s3(std::move(settings), aws::credential_chain(std::move(chain)));
}

Option option(std::string name, std::string value, std::string help, std::string fallback = {}) {
    Option made;
    made.name = std::move(name);
    made.value_name = std::move(value);
    made.help = std::move(help);
    made.fallback = std::move(fallback);
    if (made.value_name.empty()) made.kind = Option::Kind::flag;
    return made;
}

std::vector<Option> options() {
    return {
        option("json", "", "print JSON, schema trainyard.store-ACTION"),
        option("step", "N",
               "put: the step, if the directory's name has none; get, verify: this one"),
        option("node", "I", "put: this node, from 0", "0"),
        option("nodes", "N", "put: nodes that put parts of one checkpoint", "1"),
        option(
            "attempt", "WORD",
            "put: the same on all nodes, another for each start of the job; needed with --nodes"),
        option("within", "TIME",
               "put: the machine goes away then: commit 10 s before, or stop and resume later"),
        option("marker", "FILE", "a file that the job writes last"),
        option("quiet-period", "TIME",
               "unchanged for so long, a layout without an end mark counts as complete", "30s"),
        option("ranks", "N", "processes that write files of their own"),
        option("as-is", "", "put: do not ask whether it is complete"),
        option("keep-last", "N", "prune, watch: keep the newest N"),
        option("keep-within", "TIME", "prune, watch: keep what is younger"),
        option("keep-every", "STEPS", "prune, watch: keep steps that this divides"),
        option("keep-verified", "K", "prune, watch: never remove the newest K verified", "1"),
        option("dry-run", "", "prune: say what would go"),
        option("no-sync", "", "get: do not wait for the disk; faster, unsafe if the power fails"),
        option("interval", "TIME", "watch: time between looks", "5s"),
        option("once", "", "watch: one look, then end"),
        option("jobs", "N", "transfers at a time (two for each core, 16 to 64)"),
        option("part-size", "SIZE", "of large files, grown where a store allows few parts", "8MiB"),
        option("endpoint-url", "URL", "an S3-compatible server; AWS_ENDPOINT_URL_S3"),
        option("region", "NAME", "of the bucket; AWS_REGION or the profile's"),
        option("profile", "NAME", "of the AWS configuration; absent: the usual chain")};
}

}  // namespace

namespace {

/// One connection to S3 gives 50 to 90 MB/s, so a fast network needs many.
int usual_jobs() {
    return std::clamp(2 * static_cast<int>(std::thread::hardware_concurrency()), 16, 64);
}

/// A mistyped path would look like an empty store.
std::optional<Error> expect_directory(const std::string& where) {
    const auto status = sys::real_env().status(where);
    if (status && status->kind == sys::FileKind::directory) return std::nullopt;
    return store_mistake(where, status ? "not a directory" : "there is no such directory",
                         "name the store: a directory, or s3://BUCKET/PREFIX");
}

}  // namespace

Result<std::unique_ptr<OpenStore>> open_store(const Args& args, const std::string& where, Io& io,
                                              OpenFor purpose) {
    Args::Mistakes mistakes;
    const auto jobs = args.integer("jobs", 1, 1024, mistakes);
    const auto part = args.bytes("part-size", mistakes);
    if (!mistakes.empty()) return bad_input(std::move(mistakes));
    auto open = std::make_unique<OpenStore>();
    open->name = where;
    store::RepositorySettings settings;
    constexpr std::string_view kS3 = "s3://";
    if (where.starts_with(kS3)) {
        auto bucket = open_bucket(args, where.substr(kS3.size()), settings.prefix);
        if (!bucket) return bucket.error();
        open->objects = std::move(*bucket);
    } else {
        if (purpose == OpenFor::reading) {
            if (auto error = expect_directory(where)) return *error;
        }
        open->objects = store::open_directory(sys::real_env(), where);
    }
    open->prefix = settings.prefix;
    settings.jobs = jobs.value_or(usual_jobs());
    settings.part_size = static_cast<std::uint64_t>(*part / kByte);
    settings.created_by = "trainyard " + std::string(kVersion);
    settings.stop = open->stop.get_token();
    settings.warn = [&io](const Diagnostic& d) { io.report({d}); };
    open->bar = std::make_unique<ProgressBar>(io.err, sys::is_terminal(sys::Stream::err));
    settings.progress = [o = open.get()](std::uint64_t done, std::uint64_t total) {
        if (o->interrupt != nullptr && *o->interrupt) o->stop.request_stop();
        o->show(done, total);
    };
    open->repository =
        std::make_unique<store::Repository>(sys::real_env(), *open->objects, std::move(settings));
    return open;
}

void OpenStore::show(std::uint64_t done, std::uint64_t total) {
    if (total == 0) return;
    const std::int64_t now = sys::real_env().steady_ns();
    if (done <= shown) begun_ns = now;  // another put or get has begun
    shown = done;
    const double seconds = static_cast<double>(now - begun_ns) / 1e9;
    const std::string rate =
        seconds > 0 ? format_bytes(static_cast<double>(done) / seconds * kByte) + "/s" : "";
    if (bar) bar->show(static_cast<double>(done) / static_cast<double>(total), rate);
}

Command store_command() {
    Command command;
    command.name = "store";
    command.summary = "Checkpoints that are either whole in S3 or a directory, or not there at all";
    command.description =
        "Actions: put DIR STORE sends a checkpoint once it is complete; get STORE DIR restores the "
        "newest sound one; ls STORE lists; verify STORE reads all of one back; prune STORE removes "
        "by rules; watch DIR STORE puts each new checkpoint below DIR. STORE is a directory or "
        "s3://BUCKET/PREFIX. Layouts and rules: docs/reference/store.md.";
    command.examples = {
        {"trainyard store put run/step_1000 s3://my-bucket/run-7", "safe once this returns"},
        {"trainyard store get s3://my-bucket/run-7 run/restored", "the newest whole checkpoint"},
        {"trainyard store watch run /shared/checkpoints --keep-last 3",
         "each new checkpoint as soon as it is complete"},
        {"trainyard store prune /shared/checkpoints --keep-last 3 --keep-every 10000 --dry-run",
         "what would go"}};
    command.options = options();
    command.positionals = {
        {.name = "action", .help = "put, get, ls, verify, prune or watch", .min = 1, .max = 1},
        {.name = "place",
         .help = "the store, and the directory it goes to or comes from",
         .min = 1,
         .max = 2}};
    command.run = run_store;
    return command;
}

}  // namespace trainyard::cli
