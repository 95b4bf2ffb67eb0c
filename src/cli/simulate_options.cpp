#include "simulate_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <utility>

#include "simulate_trace.hpp"
#include "trainyard/base/text.hpp"
#include "trainyard/spot/policy.hpp"

namespace trainyard::cli {

namespace {

using Mistakes = std::vector<Diagnostic>;
using spot::Cadence;

constexpr std::uint64_t kMostRuns = 100'000'000;

void add_mistake(Mistakes& mistakes, std::string_view flag, std::string what, std::string fix,
                 std::string why = {}) {
    Diagnostic d;
    d.where.file = "--" + std::string(flag);
    d.what = std::move(what);
    d.why = std::move(why);
    d.fix = std::move(fix);
    mistakes.push_back(std::move(d));
}

std::vector<std::string> policy_names() {
    std::vector<std::string> names;
    for (const spot::PolicyInfo& p : spot::policies()) names.push_back(p.name);
    return names;
}

/// Names without an argument, and those that need one with a usual one.
std::vector<std::string> all_policies() {
    std::vector<std::string> out;
    for (const std::string& name : policy_names()) {
        for (const std::string& text : {name, name + ":0.7"}) {
            if (spot::make_policy(text) == nullptr) continue;
            out.push_back(text);
            break;
        }
    }
    return out;
}

void add_once(std::vector<std::string>& list, const std::string& name) {
    if (std::find(list.begin(), list.end(), name) == list.end()) list.push_back(name);
}

void read_policies(const Args& args, SimulateRequest& r, Mistakes& mistakes) {
    const std::string planned = r.input.run.policy;
    std::vector<std::string> wanted = args.list("policy");
    const bool all = wanted.empty() || wanted == std::vector<std::string>{"all"};
    if (all) {
        r.policies = {planned};
        const auto& pools = r.input.run.spec.pools;
        const auto zones = std::count_if(pools.begin(), pools.end(), [](const spot::Pool& p) {
            return p.purchase == spot::Purchase::spot;
        });
        for (const std::string& name : all_policies()) {
            // it is about the choice of a zone, and slow
            if (name == "skynomad" && zones < 2 && wanted.empty()) continue;
            add_once(r.policies, name);
        }
        return;
    }
    for (const std::string& name : wanted) {
        if (name == "all") {
            for (const std::string& other : all_policies()) add_once(r.policies, other);
        } else if (spot::make_policy(name) == nullptr) {
            const auto near = nearest(name.substr(0, name.find(':')), policy_names());
            add_mistake(mistakes, "policy", fmt::format("\"{}\" is no policy", name),
                        near ? fmt::format("did you mean \"{}\"?", *near)
                             : fmt::format("write one of {}", fmt::join(all_policies(), ", ")));
        } else {
            add_once(r.policies, name);
        }
    }
}

void read_cadence(const Args& args, spot::Checkpoints& checkpoints, Mistakes& mistakes) {
    if (!args.given("cadence")) return;
    const std::string text = args.text("cadence");
    const auto choice = parse_cadence(text);
    if (!choice) {
        add_mistake(mistakes, "cadence", fmt::format("\"{}\" is no checkpoint cadence", text),
                    "write fixed:5m, young, daly, best or age");
        return;
    }
    checkpoints.cadence = choice->cadence;
    checkpoints.interval = choice->interval;
}

void read_save_time(const Args& args, spot::Checkpoints& checkpoints, Mistakes& mistakes) {
    const auto time = args.duration("save-time", mistakes);
    if (!time) return;
    const Seconds upload = checkpoints.persist - checkpoints.blocking;
    checkpoints.blocking = *time;
    checkpoints.persist = *time + upload;
    if (checkpoints.on_notice > Seconds{}) checkpoints.on_notice = checkpoints.persist;
}

void read_restore(const Args& args, spot::Checkpoints& checkpoints, Mistakes& mistakes) {
    if (!args.given("restore")) return;
    const std::string text = args.text("restore");
    checkpoints.restore_from = text == "peer"  ? spot::RestoreFrom::peer_memory
                               : text == "fsx" ? spot::RestoreFrom::fsx
                                               : spot::RestoreFrom::s3;
    if (text == "peer" && checkpoints.restore_peer <= Seconds{}) {
        add_mistake(mistakes, "restore", "the plan has no time for a restore from peers",
                    "set restore_peer_s in the plan's run");
    }
}

/// "4:8" or "4".
void read_elastic(const Args& args, spot::RunSpec& spec, Mistakes& mistakes) {
    if (!args.given("elastic")) return;
    const std::string text = args.text("elastic");
    const auto parts = split(text, ':');
    const auto low = parse_number(parts[0]);
    const auto high =
        parts.size() == 2 ? parse_number(parts[1]) : std::optional<double>(spec.nodes);
    const auto whole = [](std::optional<double> v) {
        return v && *v >= 1 && *v <= 1e6 && *v == static_cast<int>(*v);
    };
    if (parts.size() > 2 || !whole(low) || !whole(high) || *low > *high) {
        add_mistake(mistakes, "elastic", fmt::format("\"{}\" is no range of nodes", text),
                    "write MIN:MAX, for example 4:8");
        return;
    }
    if (static_cast<int>(*high) != spec.nodes) {
        add_mistake(
            mistakes, "elastic",
            fmt::format("the plan has {} nodes, not {}", spec.nodes, static_cast<int>(*high)),
            fmt::format("write --elastic {}:{}, or plan with --nodes {}",
                        std::min(static_cast<int>(*low), spec.nodes), spec.nodes,
                        static_cast<int>(*high)),
            "the work of the plan is measured at its own size");
        return;
    }
    spec.min_nodes = static_cast<int>(*low);
}

std::optional<double> read_share(const Args& args, std::string_view flag, Mistakes& mistakes) {
    const auto share = args.number(flag, mistakes);
    if (share && (*share < 0 || *share > 1)) {
        add_mistake(mistakes, flag, "must lie between 0 and 1", "write for example 0.1");
        return std::nullopt;
    }
    return share;
}

void read_rules(const Args& args, spot::AwsRules& rules, Mistakes& mistakes) {
    if (args.flag("no-first-hour-free")) rules.first_hour_free = false;
    if (args.flag("whole-hours")) rules.per_second = false;
    if (args.flag("no-notice")) rules.notice = Seconds{};
    if (args.flag("no-rebalance")) rules.rebalance = false;
    if (const auto p = read_share(args, "notice-missing", mistakes)) rules.notice_missing = *p;
    if (const auto p = read_share(args, "on-demand-refused", mistakes))
        rules.on_demand_refused = *p;
}

std::optional<std::uint64_t> whole_number(const std::string& text) {
    std::uint64_t value = 0;
    const char* end = text.data() + text.size();
    const auto [rest, failure] = std::from_chars(text.data(), end, value);
    return failure == std::errc{} && rest == end ? std::optional(value) : std::nullopt;
}

void read_size(const Args& args, SimulateRequest& r, Mistakes& mistakes) {
    if (const auto runs = args.count("runs", mistakes)) {
        if (*runs < 1 || *runs > static_cast<double>(kMostRuns)) {
            add_mistake(mistakes, "runs", "must lie between 1 and 100,000,000",
                        "write for example 100k");
        } else if (*runs != std::floor(*runs)) {
            add_mistake(mistakes, "runs",
                        fmt::format("\"{}\" is no whole number", args.text("runs")),
                        "write for example 100k");
        } else {
            r.runs = static_cast<std::uint64_t>(*runs);
        }
    }
    if (args.given("seed")) {
        const auto seed = whole_number(args.text("seed"));
        if (!seed) {
            add_mistake(mistakes, "seed",
                        fmt::format("\"{}\" is not a whole number", args.text("seed")),
                        "write for example 42");
        }
        r.seed = seed.value_or(1);
    }
    if (const auto threads = args.integer("threads", 0, 1024, mistakes)) r.threads = *threads;
}

void read_fail_on(const Args& args, SimulateRequest& r, Mistakes& mistakes) {
    for (const std::string& word : args.list("fail-on")) {
        const std::size_t colon = word.find(':');
        const std::string name = word.substr(0, colon);
        const auto share =
            colon == std::string::npos ? std::optional(0.1) : parse_number(word.substr(colon + 1));
        if ((name != "late" && name != "over-budget") || !share || *share < 0 || *share >= 1) {
            add_mistake(mistakes, "fail-on", fmt::format("\"{}\" is no condition", word),
                        "write late or over-budget, with the share of runs that may break it: "
                        "late:0.05");
            continue;
        }
        const bool late = name == "late";
        if (late ? !r.input.run.spec.deadline : !r.input.run.spec.budget) {
            add_mistake(mistakes, "fail-on", late ? "there is no deadline" : "there is no budget",
                        late ? "add --deadline, or deadline in the job"
                             : "add --budget, or budget in the job");
            continue;
        }
        r.fail_on.push_back({late, *share});
    }
}

/// For a shell.
std::string quoted(const std::string& word) {
    constexpr std::string_view kPlain =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=:,./@%";
    if (!word.empty() && word.find_first_not_of(kPlain) == std::string::npos) return word;
    std::string out = "'";
    for (const char c : word) out += c == '\'' ? "'\\''" : std::string(1, c);
    return out + "'";
}

/// The options that decide what is played; how it is shown is the next command's own.
std::string given_options(const Args& args) {
    constexpr std::string_view kOwn[] = {"policy", "cadence", "runs",    "rules",
                                         "html",   "json",    "fail-on", "brief"};
    std::string out;
    for (const auto& [name, slot] : args.slots) {
        const bool own = std::find(std::begin(kOwn), std::end(kOwn), name) != std::end(kOwn);
        if (!slot.is_option || !slot.is_given || own) continue;
        out += " --" + name;
        if (!slot.values.empty())
            out += " " + quoted(fmt::format("{}", fmt::join(slot.values, ",")));
    }
    return out;
}

Option flag(std::string name, std::string help) {
    return {.name = std::move(name), .kind = Option::Kind::flag, .help = std::move(help)};
}
Option text(std::string name, std::string value, std::string help, std::string fallback = {}) {
    return {.name = std::move(name),
            .kind = Option::Kind::text,
            .value_name = std::move(value),
            .help = std::move(help),
            .fallback = std::move(fallback)};
}

std::vector<Option> rule_options() {
    return {
        flag("rules", "also show what each AWS rule is worth, one switched off at a time"),
        flag("no-first-hour-free", "bill instances that EC2 interrupts in their first hour"),
        flag("whole-hours", "bill whole hours, not seconds"),
        flag("no-notice", "interruptions come without the two-minute notice"),
        text("notice-missing", "SHARE", "of interruptions come without a notice: 0.1"),
        flag("no-rebalance", "no rebalance recommendations"),
        text("on-demand-refused", "SHARE", "of on-demand launches find no capacity: 0.2"),
    };
}

Result<SimulateRequest> read_input(const Args& args, const std::string& today) {
    auto input = simulate_input(args, today);
    if (!input) return input.error();
    SimulateRequest r;
    r.input = std::move(*input);
    r.notes = r.input.notes;
    r.job_word = quoted(args.text("job"));
    r.given = given_options(args);
    if (!args.given("trace")) return r;
    spot::ImportOptions options;
    if (args.given("ones")) {
        options.convention = args.text("ones") == "preempted" ? spot::Convention::preempted
                                                              : spot::Convention::available;
    }
    auto traces = read_traces(args.text("trace"), options);
    if (!traces) return traces.error();
    r.traces = std::move(traces->pools);
    std::move(traces->notes.begin(), traces->notes.end(), std::back_inserter(r.notes));
    if (auto error = use_traces(r.traces, args.flag("trace-prices"), r.input.run.spec))
        return *error;
    r.input.run.spec.trace_from_start = args.flag("from-start");
    return r;
}

}  // namespace

std::optional<CadenceChoice> parse_cadence(std::string_view word) {
    if (word == "young") return CadenceChoice{Cadence::young, {}, "young"};
    if (word == "daly") return CadenceChoice{Cadence::daly, {}, "daly"};
    if (word == "best") return CadenceChoice{Cadence::best, {}, "best"};
    if (word == "age") return CadenceChoice{Cadence::age_aware, {}, "age"};
    if (!word.starts_with("fixed:")) return std::nullopt;
    const auto interval = parse_duration(word.substr(6));
    if (!interval || *interval <= Seconds{}) return std::nullopt;
    return CadenceChoice{Cadence::fixed, *interval, std::string(word)};
}

namespace {

/// As a user would type it: "fixed:5m".
std::string fixed_name(Seconds interval) {
    for (const auto& [unit, letter] : {std::pair(kHour, 'h'), std::pair(kMinute, 'm')}) {
        const double count = interval / unit;
        if (count >= 1 && count == std::floor(count))
            return fmt::format("fixed:{:.0f}{}", count, letter);
    }
    return fmt::format("fixed:{:g}s", interval / kSecond);
}

}  // namespace

CadenceChoice cadence_of(const spot::Checkpoints& c) {
    switch (c.cadence) {
        case Cadence::fixed:
            return {c.cadence, c.interval, fixed_name(c.interval)};
        case Cadence::young:
            return {c.cadence, {}, "young"};
        case Cadence::daly:
            return {c.cadence, {}, "daly"};
        case Cadence::best:
            return {c.cadence, {}, "best"};
        case Cadence::age_aware:
            return {c.cadence, {}, "age"};
    }
    return {};
}

namespace {

bool is_committed(const spot::Pool& p) {
    return p.purchase == spot::Purchase::capacity_block || p.purchase == spot::Purchase::reserved;
}

}  // namespace

spot::RunSpec spec_for(const SimulateRequest& r, const std::string& policy) {
    spot::RunSpec spec = r.offered;
    if (policy == r.input.run.policy || policy == "reserved") return spec;
    spec.pools.erase(std::remove_if(spec.pools.begin(), spec.pools.end(), is_committed),
                     spec.pools.end());
    return spec;
}

std::vector<Option> simulate_play_options() {
    std::vector<Option> all = {
        text("runs", "N", "how often the run is played", "10000"),
        {.name = "policy",
         .kind = Option::Kind::list,
         .value_name = "LIST",
         .help = "which nodes to hold; the verdict is about the first, default the plan's; all: "
                 "compare all",
         .hints = all_policies()},
        {.name = "cadence",
         .kind = Option::Kind::text,
         .value_name = "HOW",
         .help = "how often to save, default daly",
         .hints = {"fixed:5m", "young", "daly", "best", "age"}},
        text("save-time", "TIME", "the run stands still this long at each save, not as planned"),
        {.name = "restore",
         .kind = Option::Kind::text,
         .value_name = "FROM",
         .help = "where a restart reads its checkpoint",
         .choices = {"s3", "fsx", "peer"}},
        text("elastic", "MIN:MAX", "go on with as few as MIN nodes; MAX is the plan's size"),
        text("trace", "FILE",
             "recorded spot capacity, or a directory of such files, in place of "
             "the assumed process"),
        flag("trace-prices", "use the trace's prices, not the plan's"),
        flag("from-start", "replay the trace from its first sample, not from a random place"),
    };
    for (Option& o : rule_options()) all.push_back(std::move(o));
    const std::vector<Option> rest = {
        text("seed", "N", "another seed, other luck", "1"),
        text("threads", "N", "0: one per core", "0"),
        flag("exact-steps", "take the plan's step time as exact: only luck varies"),
        flag("brief", "the verdict and its distributions only, no comparisons"),
        text("html", "FILE", "also write a self-contained report with charts"),
        {.name = "fail-on",
         .kind = Option::Kind::list,
         .value_name = "LIST",
         .help = "exit 1 if more than 10 % of the runs break this limit, or the share you name: "
                 "late:0.05",
         .hints = {"late", "over-budget"}},
        flag("json", "print JSON (docs/reference/simulate-json.md)"),
    };
    all.insert(all.end(), rest.begin(), rest.end());
    return all;
}

Result<SimulateRequest> simulate_request(const Args& args, const std::string& today) {
    auto request = read_input(args, today);
    if (!request) return request.error();
    SimulateRequest& r = *request;
    spot::RunSpec& spec = r.input.run.spec;
    Mistakes mistakes;
    read_policies(args, r, mistakes);
    read_cadence(args, spec.checkpoints, mistakes);
    read_save_time(args, spec.checkpoints, mistakes);
    read_restore(args, spec.checkpoints, mistakes);
    read_elastic(args, spec, mistakes);
    if (args.flag("exact-steps")) spec.step_time = {};
    read_rules(args, spec.rules, mistakes);
    read_size(args, r, mistakes);
    read_fail_on(args, r, mistakes);
    if (!mistakes.empty()) return bad_input(std::move(mistakes));
    r.offered = spec;
    spec = spec_for(r, r.policies.front());
    r.compare = !args.flag("brief");
    r.rules = args.flag("rules") || args.given("html");
    r.curve = args.flag("json") || args.given("html");
    return request;
}

}  // namespace trainyard::cli
