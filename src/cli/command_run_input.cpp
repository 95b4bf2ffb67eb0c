#include "command_run_input.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "trainyard/base/text.hpp"
#include "trainyard/doc/node.hpp"
#include "trainyard/sys/environment.hpp"

namespace trainyard::cli {

Option make_option(std::string name, std::string value, std::string help, std::string fallback) {
    Option made;
    made.name = std::move(name);
    made.value_name = std::move(value);
    made.help = std::move(help);
    made.fallback = std::move(fallback);
    if (made.value_name.empty()) made.kind = Option::Kind::flag;
    return made;
}

std::vector<Option> run_options() {
    Option on_nan =
        make_option("on-nan", "WORD", "what to do when the loss is not a number", "warn");
    on_nan.choices = {"warn", "stop"};
    std::vector<Option> all = {
        make_option("checkpoint-dir", "DIR", "where the command writes its checkpoints"),
        make_option("store", "STORE", "a directory or s3://BUCKET/PREFIX that keeps them"),
        state_option(),
        make_option("max-restarts", "N", "failures in a row without a new checkpoint", "10"),
        make_option("poison-after", "N", "failures in a row at the same step", "3"),
        make_option("backoff", "TIME", "before the first restart; doubles up to 5 min", "1s"),
        make_option("grace", "TIME", "between SIGTERM and SIGKILL", "30s"),
        make_option("term-window", "TIME", "from a SIGTERM to the end: save, upload, stop", "30s"),
        make_option("stop-window", "TIME", "the same for Ctrl-C and trainyard stop", "10m"),
        make_option("notice-window", "TIME", "the same for a notice that names no time", "120s"),
        make_option(
            "imds", "URL|off",
            "metadata service to watch for interruptions; AWS_EC2_METADATA_SERVICE_ENDPOINT",
            "http://169.254.169.254"),
        make_option("poll", "TIME", "between looks at the metadata service", "2s"),
        make_option("progress-pattern", "TEXT",
                    "where a log line tells the step: \"it {step} {*} loss {loss}\""),
        make_option("hang-after", "TIME|auto|off",
                    "no progress for so long is a hang; auto: 20 step times, at least 5 min",
                    "auto"),
        make_option("start-limit", "TIME", "from the start of the command to its first step", "1h"),
        on_nan,
        make_option("idle-stop", "TIME", "nothing new for so long ends the run"),
        make_option("budget", "USD", "save and stop before so much is spent; needs a price"),
        make_option("price-per-hour", "USD", "of all nodes together"),
        make_option("plan", "FILE",
                    "trainyard plan --json: its price, and its step time to compare"),
        make_option("metrics", "PORT", "Prometheus metrics on loopback; 0: any free port"),
        make_option("quiet", "", "do not copy the command's output"),
        make_option("marker", "FILE", "a file that the command writes last into a checkpoint"),
        make_option("quiet-period", "TIME",
                    "unchanged for so long, a layout without an end mark counts as complete",
                    "30s"),
        make_option("ranks", "N", "processes that write files of their own"),
        make_option("keep-last", "N", "of the store, keep the newest N"),
        make_option("jobs", "N", "transfers at a time", "8"),
        make_option("part-size", "SIZE", "of large files in the store", "16MiB"),
        make_option("endpoint-url", "URL", "an S3-compatible server; AWS_ENDPOINT_URL_S3"),
        make_option("region", "NAME", "of the bucket; AWS_REGION or the profile's"),
        make_option("profile", "NAME", "of the AWS configuration; absent: the usual chain")};
    const auto nodes = nodes_options();
    all.insert(all.begin() + 3, nodes.begin(), nodes.end());
    return all;
}

std::string absolute_path(const std::string& path) {
    if (path.empty()) return path;
    std::string whole = std::filesystem::absolute(path).lexically_normal().string();
    while (whole.size() > 1 && whole.ends_with('/')) whole.pop_back();
    return whole;
}

namespace {

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

/// "150" or "$12.50"; nullopt and a mistake otherwise.
void read_money(const Args& args, agent::Settings& s, Args::Mistakes& mistakes) {
    s.observer.budget = args.usd("budget", mistakes);
    if (const auto price = args.usd("price-per-hour", mistakes)) s.observer.price = *price / kHour;
    if (s.observer.budget && *s.observer.budget <= 0 * kUsd) {
        mistakes.push_back({.where = {"--budget", 0, 0},
                            .what = "a budget of nothing starts nothing",
                            .why = {},
                            .fix = {}});
    }
    s.metrics_port = args.integer("metrics", 0, 65535, mistakes);
}

void read_watching(const Args& args, agent::Settings& s, Args::Mistakes& mistakes) {
    const std::string hang = args.text("hang-after");
    s.observer.watches_hangs = hang != "off";
    if (hang != "auto" && hang != "off")
        s.observer.hang_after = args.duration("hang-after", mistakes);
    if (const auto t = args.duration("start-limit", mistakes)) s.observer.start_limit = *t;
    s.observer.stops_on_bad_loss = args.text("on-nan") == "stop";
    s.observer.idle_after = args.duration("idle-stop", mistakes);
}

/// What `trainyard calibrate` needs to predict the same run again.
doc::Node recorded_plan(const doc::Node& root, const doc::Node& chosen, const std::string& file) {
    const auto copy = [](const doc::Node& from, std::initializer_list<const char*> keys) {
        doc::Node to = doc::Node::map();
        for (const char* key : keys) {
            if (const doc::Node* value = from.find(key)) to.set(key, *value);
        }
        return to;
    };
    doc::Node plan = copy(root, {"schema", "schema_version", "model"});
    plan.set("file", file);
    plan.set("chosen", copy(chosen, {"instance", "nodes", "accelerator", "accelerators",
                                     "jobs_per_node", "mapping", "training", "step_time_s",
                                     "band_low", "band_high", "correction", "step"}));
    return plan;
}

/// The price and the step time of `trainyard plan --json`.
std::optional<Error> read_plan(const std::string& file, agent::Settings& s) {
    const auto text = sys::read_file(file);
    if (!text) return text.error();
    const auto root = doc::parse_json(*text, file);
    if (!root) return root.error();
    const auto refuse = [&](const doc::Node& at, std::string what) {
        return bad_input(Diagnostic{.where = at.where,
                                    .what = std::move(what),
                                    .why = {},
                                    .fix = "trainyard plan … --json > " + file});
    };
    if (!root->is(doc::Node::Kind::map) || root->find("schema") == nullptr ||
        root->find("schema")->text() != "trainyard.plan") {
        return refuse(*root, "this is no plan");
    }
    const doc::Node* chosen = root->find("chosen");
    if (chosen == nullptr || !chosen->is(doc::Node::Kind::map)) {
        return refuse(*root, "the plan recommends nothing");
    }
    const doc::Node* nodes = chosen->find("nodes");
    const doc::Node* offer = chosen->find("offer");
    const doc::Node* rate = offer != nullptr && offer->is(doc::Node::Kind::map)
                                ? offer->find("usd_per_instance_hour")
                                : nullptr;
    if (nodes == nullptr || rate == nullptr || !nodes->is_numeric() || !rate->is_numeric() ||
        nodes->as_number() <= 0 || rate->as_number() < 0) {
        return refuse(*chosen, "the plan names no price");
    }
    if (!s.observer.price) {
        s.observer.price = nodes->as_number() * rate->as_number() * kUsdPerHour;
    }
    s.plan = recorded_plan(*root, *chosen, file);
    const doc::Node* step = chosen->find("step_time_s");
    if (step != nullptr && step->is_numeric()) s.planned_step = step->as_number() * kSecond;
    return std::nullopt;
}

/// The words that would ask for the same again.
std::string words_of(const Args& args) {
    doc::Node words = doc::Node::list();
    const auto add = [&](std::string word) { words.append(doc::Node::string(std::move(word))); };
    for (const Option& option : run_options()) {
        if (!args.given(option.name)) continue;
        add("--" + option.name);
        if (option.kind != Option::Kind::flag) add(args.text(option.name));
    }
    add("--");
    for (const std::string& word : args.list("command")) add(word);
    return doc::write_json(words);
}

}  // namespace

Result<agent::Settings> run_settings(const Args& args) {
    Args::Mistakes mistakes;
    agent::Settings s;
    s.command = args.list("command");
    s.words = words_of(args);
    s.folder = std::filesystem::current_path().string();
    s.state = absolute_path(args.text("state"));
    s.place.directory = absolute_path(args.text("checkpoint-dir"));
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
    read_money(args, s, mistakes);
    read_watching(args, s, mistakes);
    s.keep.keep_last = args.integer("keep-last", 1, 1 << 20, mistakes);
    s.has_keep = s.keep.keep_last.has_value();
    if (auto error = read_nodes(args, s, mistakes)) return *error;
    if (!mistakes.empty()) return bad_input(std::move(mistakes));
    if (args.given("progress-pattern")) {
        auto pattern = agent::ProgressPattern::parse(args.text("progress-pattern"));
        if (!pattern) return pattern.error();
        s.pattern = std::move(*pattern);
    }
    if (args.given("plan")) {
        if (auto error = read_plan(args.text("plan"), s)) return *error;
    }
    // Each node counts its own time, at its share of the price.
    if (s.group && s.observer.price) s.observer.price = *s.observer.price / s.group->group.most;
    if (s.observer.budget && !s.observer.price) {
        return Error{ErrorKind::usage,
                     {{.where = {"--budget", 0, 0},
                       .what = "a budget needs a price",
                       .why = {},
                       .fix = "--plan plan.json or --price-per-hour USD"}}};
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

Option state_option() {
    return make_option("state", "DIR", "state, logs and events of the run", ".trainyard");
}

}  // namespace trainyard::cli
