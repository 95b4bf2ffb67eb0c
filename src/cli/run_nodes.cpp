// trainyard run on several nodes: --nodes and its kin.

#include <fmt/format.h>

#include <charconv>

#include "command_run_input.hpp"
#include "trainyard/base/text.hpp"
#include "trainyard/sys/env.hpp"
#include "trainyard/sys/machine.hpp"

namespace trainyard::cli {

namespace {

constexpr int kMostNodes = 10'000;

struct Range {
    int fewest = 1;
    int most = 1;
};

/// "2:4".
std::optional<Range> parse_range(std::string_view text) {
    Range range;
    const char* end = text.data() + text.size();
    const auto first = std::from_chars(text.data(), end, range.fewest);
    if (first.ec != std::errc() || first.ptr == end || *first.ptr != ':') return std::nullopt;
    const auto second = std::from_chars(first.ptr + 1, end, range.most);
    if (second.ec != std::errc() || second.ptr != end) return std::nullopt;
    if (range.fewest < 1 || range.most < range.fewest || range.most > kMostNodes) {
        return std::nullopt;
    }
    return range;
}

/// Part of keys in the store, so only what needs no escape there.
bool is_node_name(std::string_view name) {
    constexpr std::size_t kLongest = 128;
    if (name.empty() || name.size() > kLongest || name.front() == '.') return false;
    return name.find_first_not_of(
               "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
               "0123456789-_.") == std::string_view::npos;
}

Error mistake(std::string option, std::string what, std::string why, std::string fix) {
    return {ErrorKind::usage,
            {{.where = {std::move(option), 0, 0},
              .what = std::move(what),
              .why = std::move(why),
              .fix = std::move(fix)}}};
}

}  // namespace

std::vector<Option> nodes_options() {
    Option policy = make_option("batch-policy", "WORD",
                                "with fewer nodes: keep the global batch, or scale the learning "
                                "rate with it",
                                "keep-global-batch");
    policy.choices = {"keep-global-batch", "scale-learning-rate"};
    return {
        make_option("nodes", "N", "of the run; start this command on each; needs --store"),
        make_option("elastic", "MIN:MAX", "go on with as few as MIN, grow back to MAX"),
        policy,
        make_option("node-name", "NAME", "of this one among them; absent: the host's name"),
        make_option("address", "ADDRESS", "that the other nodes reach this one at"),
        make_option("rendezvous-port", "PORT",
                    "of the first node: MASTER_PORT; absent: a free one for each start"),
        make_option("beat", "TIME", "between signs of life to the other nodes", "2s"),
        make_option("node-timeout", "TIME", "a node without a sign for so long is lost", "10s"),
        make_option("join-wait", "TIME", "at the start, wait so long for more than MIN", "30s"),
        make_option("grow-after", "TIME", "before the run is interrupted for a new node", "5m")};
}

std::optional<Error> read_nodes(const Args& args, agent::Settings& settings,
                                Args::Mistakes& mistakes) {
    if (!args.given("nodes") && !args.given("elastic")) return std::nullopt;
    agent::GroupWatchSettings g;
    const int nodes = args.integer("nodes", 1, kMostNodes, mistakes).value_or(0);
    Range range{nodes, nodes};
    if (args.given("elastic")) {
        const auto told = parse_range(args.text("elastic"));
        if (!told) {
            return mistake("--elastic",
                           "\"" + printable(args.text("elastic"), 40) + "\" is no range", {},
                           "the fewest and the most nodes, for example --elastic 2:4");
        }
        range = *told;
    }
    if (args.given("nodes") && nodes != range.most && mistakes.empty()) {
        return mistake(
            "--nodes", "it is not the most of --elastic", {},
            fmt::format("--nodes {} --elastic {}:{}", range.most, range.fewest, range.most));
    }
    if (settings.place.store_name.empty()) {
        return mistake("--nodes", "several nodes need --store",
                       "they find each other there, and begin from what it holds",
                       "--store s3://BUCKET/PREFIX, or a directory that all nodes see");
    }
    g.group.fewest = range.fewest;
    g.group.most = range.most;
    g.group.self = args.given("node-name") ? args.text("node-name") : sys::real_env().self().host;
    if (!is_node_name(g.group.self)) {
        return mistake("--node-name",
                       "\"" + printable(g.group.self, 60) + "\" is no name for a node",
                       "letters, digits, '-', '_' and '.' only, at most 128", {});
    }
    g.address = args.given("address") ? args.text("address") : sys::own_address();
    g.port = args.integer("rendezvous-port", 1, 65535, mistakes).value_or(0);
    g.scales_rate = args.text("batch-policy") == "scale-learning-rate";
    if (const auto t = args.duration("beat", mistakes)) g.interval = *t;
    if (const auto t = args.duration("node-timeout", mistakes)) g.group.patience = *t;
    if (const auto t = args.duration("join-wait", mistakes)) g.group.join_wait = *t;
    if (const auto t = args.duration("grow-after", mistakes)) g.group.grow_after = *t;
    constexpr double kBeats = 3;  // in a timeout: one that comes late is no lost node
    if (mistakes.empty() && g.group.patience < kBeats * g.interval) {
        return mistake(
            "--node-timeout", "it is shorter than three beats",
            "a single late beat would be taken for a lost node",
            "--node-timeout " + format_duration(kBeats * g.interval) + " or --beat less");
    }
    g.group.rejoin_wait = std::min(g.group.join_wait, 2.5 * g.interval);
    g.group.grow_window = settings.policy.stop_window;
    settings.policy.has_group = true;
    settings.group = std::move(g);
    return std::nullopt;
}

}  // namespace trainyard::cli
