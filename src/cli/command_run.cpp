// trainyard run: keeps a command alive, its checkpoints safe.

#include <fmt/format.h>
#include <unistd.h>

#include "command_store_parts.hpp"
#include "trainyard/agent/supervisor.hpp"
#include "trainyard/base/text.hpp"
#include "trainyard/sys/environment.hpp"

namespace trainyard::cli {

namespace {

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
    return {option("checkpoint-dir", "DIR", "where the command writes its checkpoints"),
            option("store", "STORE", "a directory or s3://BUCKET/PREFIX that keeps them"),
            option("state", "DIR", "state, logs and events of the run", ".trainyard"),
            option("max-restarts", "N", "failures in a row without a new checkpoint", "10"),
            option("poison-after", "N", "failures in a row at the same step", "3"),
            option("backoff", "TIME", "before the first restart; doubles up to 5 min", "1s"),
            option("grace", "TIME", "between SIGTERM and SIGKILL", "30s"),
            option("term-window", "TIME", "from a SIGTERM to the end: save, upload, stop", "30s"),
            option("stop-window", "TIME", "the same for Ctrl-C and trainyard stop", "10m"),
            option("notice-window", "TIME", "the same for a notice that names no time", "120s"),
            option("imds", "URL|off",
                   "metadata service to watch for interruptions; AWS_EC2_METADATA_SERVICE_ENDPOINT",
                   "http://169.254.169.254"),
            option("poll", "TIME", "between looks at the metadata service", "2s"),
            option("progress-pattern", "TEXT",
                   "where a log line tells the step: \"it {step} {*} loss {loss}\""),
            option("quiet", "", "do not copy the command's output"),
            option("marker", "FILE", "a file that the command writes last into a checkpoint"),
            option("quiet-period", "TIME",
                   "unchanged for so long, a layout without an end mark counts as complete", "30s"),
            option("ranks", "N", "processes that write files of their own"),
            option("keep-last", "N", "of the store, keep the newest N"),
            option("jobs", "N", "transfers at a time", "8"),
            option("part-size", "SIZE", "of large files in the store", "16MiB"),
            option("endpoint-url", "URL", "an S3-compatible server; AWS_ENDPOINT_URL_S3"),
            option("region", "NAME", "of the bucket; AWS_REGION or the profile's"),
            option("profile", "NAME", "of the AWS configuration; absent: the usual chain")};
}

std::string without_end(std::string path) {
    while (path.size() > 1 && path.ends_with('/')) path.pop_back();
    return path;
}

/// Paths are handed to the command, which may change its directory.
std::string absolute(const std::string& path) {
    if (path.empty() || path.starts_with('/')) return without_end(path);
    return without_end(sys::get_env("PWD").value_or(".") + "/" + path);
}

/// AWS_EC2_METADATA_DISABLED and _SERVICE_ENDPOINT mean what they mean to AWS's own tools.
std::optional<agent::ImdsSettings> imds_of(const Args& args, Args::Mistakes& mistakes) {
    agent::ImdsSettings s;
    const auto poll = args.duration("poll", mistakes);
    if (poll) s.interval = *poll;
    s.endpoint = args.text("imds");
    const bool is_disabled =
        to_lower(sys::get_env("AWS_EC2_METADATA_DISABLED").value_or("")) == "true";
    if (!args.given("imds")) {
        if (is_disabled) return std::nullopt;
        s.endpoint = sys::get_env("AWS_EC2_METADATA_SERVICE_ENDPOINT").value_or(s.endpoint);
    }
    if (s.endpoint == "off") return std::nullopt;
    if (!s.endpoint.starts_with("http://") && !s.endpoint.starts_with("https://")) {
        mistakes.push_back({.where = {"--imds", 0, 0},
                            .what = "\"" + printable(s.endpoint, 100) + "\" is no http address",
                            .why = {},
                            .fix = "for example --imds http://127.0.0.1:1338, or --imds off"});
    }
    while (s.endpoint.ends_with('/')) s.endpoint.pop_back();
    return s;
}

Result<agent::Settings> settings_of(const Args& args) {
    Args::Mistakes mistakes;
    agent::Settings s;
    s.command = args.list("command");
    s.state = absolute(args.text("state"));
    s.place.directory = absolute(args.text("checkpoint-dir"));
    s.place.store_name = args.text("store");
    s.place.recognise.marker = args.text("marker");
    s.place.recognise.ranks = args.integer("ranks", 1, 1 << 20, mistakes);
    if (const auto t = args.duration("quiet-period", mistakes)) s.place.recognise.quiet = *t;
    agent::Policy& p = s.policy;
    p.has_checkpoints = !s.place.directory.empty();
    p.has_store = !s.place.store_name.empty();
    p.max_restarts = args.integer("max-restarts", 0, 1'000'000, mistakes).value_or(0);
    p.poison_after = args.integer("poison-after", 1, 1'000'000, mistakes).value_or(1);
    if (const auto t = args.duration("backoff", mistakes)) p.first_backoff = *t;
    if (const auto t = args.duration("grace", mistakes)) p.grace = *t;
    if (const auto t = args.duration("term-window", mistakes)) p.term_window = *t;
    if (const auto t = args.duration("stop-window", mistakes)) p.stop_window = *t;
    if (const auto t = args.duration("notice-window", mistakes)) p.notice_window = *t;
    s.imds = imds_of(args, mistakes);
    s.keep.keep_last = args.integer("keep-last", 1, 1 << 20, mistakes);
    s.has_keep = s.keep.keep_last.has_value();
    if (!mistakes.empty()) return bad_input(std::move(mistakes));
    if (args.given("progress-pattern")) {
        auto pattern = agent::ProgressPattern::parse(args.text("progress-pattern"));
        if (!pattern) return pattern.error();
        s.pattern = std::move(*pattern);
    }
    if (p.has_store && !p.has_checkpoints) {
        return Error{ErrorKind::usage,
                     {{.where = {"--store", 0, 0},
                       .what = "a store needs --checkpoint-dir",
                       .why = "what the command writes there is what goes to the store",
                       .fix = "--checkpoint-dir DIR"}}};
    }
    return s;
}

void tell(Io& io, agent::action::Say::Level level, const std::string& text) {
    using Level = agent::action::Say::Level;
    static constexpr std::int64_t kSecondNs = 1'000'000'000;
    const std::string time = store::format_time(sys::real_env().now_ns() / kSecondNs).substr(11, 8);
    io.err << fmt::format("trainyard: {} {}{}\n", time, level == Level::alarm ? "ALARM: " : "",
                          printable(text, 1000))
           << std::flush;
}

Result<Outcome> run_run(const Args& args, Io& io) {
    auto settings = settings_of(args);
    if (!settings) return settings.error();
    sys::SignalQueue signals(agent::answered_signals());
    std::unique_ptr<OpenStore> open;
    if (settings->policy.has_store) {
        auto opened = open_store(args, args.text("store"), io);
        if (!opened) return opened.error();
        open = std::move(*opened);
        open->bar->hide();
        settings->place.repository = open->repository.get();
        settings->abandon_store = [&open] { open->stop.request_stop(); };
    }
    settings->signals = &signals;
    settings->display = args.flag("quiet") ? -1 : STDOUT_FILENO;
    settings->say = [&io](agent::action::Say::Level level, const std::string& text) {
        tell(io, level, text);
    };
    const auto result = agent::supervise(sys::real_env(), *settings);
    if (!result) return result.error();
    for (const std::string& line : result->evidence) io.err << "  " << line << "\n";
    return static_cast<Outcome>(result->ending);
}

}  // namespace

Command run_command() {
    Command command;
    command.name = "run";
    command.summary = "Keep a training command running, its checkpoints safe and whole";
    command.description =
        "Starts the command, sends each complete checkpoint to the store, and after a failure "
        "starts it again from the newest one (TRAINYARD_RESUME_FROM, TRAINYARD_RESUME_STEP). A "
        "preemption is never counted as a failure. The same state directory continues the run "
        "after any end, that of this supervisor included: docs/reference/supervisor.md.";
    command.examples = {
        {"trainyard run --checkpoint-dir out --store s3://my-bucket/run-7 -- torchrun train.py",
         "restart from the newest checkpoint, wherever this runs again"},
        {"trainyard run --checkpoint-dir out -- python3 train.py", "without a store"}};
    command.options = options();
    command.positionals = {{.name = "command",
                            .help = "after --: the command and its arguments",
                            .min = 1,
                            .max = kAnyNumber}};
    command.run = run_run;
    return command;
}

}  // namespace trainyard::cli
